package dev.hapax.messaging.rabbit;

class QpidConsumerTest extends RabbitConsumerContract {
    @Override
    Broker broker() {
        return QpidBroker.shared();
    }
}
