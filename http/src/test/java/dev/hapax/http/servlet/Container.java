package dev.hapax.http.servlet;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import java.io.File;
import java.net.URI;
import java.nio.file.Files;
import java.util.EnumSet;
import java.util.Map;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.coyote.http2.Http2Protocol;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** Containers that speak HTTP/1.1 and h2c, and are as lax about paths as they can be: the filter has to cope. */
enum Container {
    JETTY {
        @Override
        URI start(Site site) throws Exception {
            HttpConfiguration lax = new HttpConfiguration();
            lax.setUriCompliance(UriCompliance.UNSAFE);
            Server server = new Server();
            ServerConnector connector =
                    new ServerConnector(server, new HttpConnectionFactory(lax), new HTTP2CServerConnectionFactory(lax));
            connector.setHost("127.0.0.1");
            server.addConnector(connector);
            ServletContextHandler context =
                    new ServletContextHandler(site.contextPath(), ServletContextHandler.SESSIONS);
            context.setAllowNullPathInContext(true);
            context.getServletHandler().setDecodeAmbiguousURIs(true);
            FilterHolder filter = new FilterHolder(site.filter());
            filter.setAsyncSupported(true);
            context.addFilter(filter, "/*", site.dispatches());
            site.servlets().forEach((pattern, servlet) -> {
                ServletHolder holder = new ServletHolder(servlet);
                holder.setAsyncSupported(true);
                context.addServlet(holder, pattern);
            });
            server.setHandler(context);
            server.start();
            return URI.create("http://127.0.0.1:" + connector.getLocalPort());
        }
    },
    TOMCAT {
        @Override
        URI start(Site site) throws Exception {
            Tomcat tomcat = new Tomcat();
            File base = Files.createTempDirectory("tomcat").toFile();
            tomcat.setBaseDir(base.getPath());
            tomcat.setSilent(true);
            Connector connector = new Connector();
            connector.setPort(0);
            connector.setProperty("address", "127.0.0.1");
            connector.setProperty("relaxedPathChars", "\"<>[\\]^`{|}");
            connector.setProperty("encodedSolidusHandling", "passthrough");
            connector.setProperty("encodedReverseSolidusHandling", "passthrough");
            connector.addUpgradeProtocol(new Http2Protocol());
            tomcat.setConnector(connector);
            Context context =
                    tomcat.addContext(site.contextPath().equals("/") ? "" : site.contextPath(), base.getPath());
            context.setMapperContextRootRedirectEnabled(false);
            FilterDef filter = new FilterDef();
            filter.setFilterName("hapax");
            filter.setFilter(site.filter());
            filter.setAsyncSupported("true");
            context.addFilterDef(filter);
            FilterMap map = new FilterMap();
            map.setFilterName("hapax");
            map.addURLPattern("/*");
            site.dispatches().forEach(type -> map.setDispatcher(type.name()));
            context.addFilterMap(map);
            site.servlets().forEach((pattern, servlet) -> {
                Tomcat.addServlet(context, pattern, servlet).setAsyncSupported(true);
                context.addServletMappingDecoded(pattern, pattern);
            });
            tomcat.start();
            return URI.create("http://127.0.0.1:" + connector.getLocalPort());
        }
    };

    /** @param contextPath {@code /} for the root */
    record Site(
            String contextPath, Filter filter, Map<String, HttpServlet> servlets, EnumSet<DispatcherType> dispatches) {
        Site(String contextPath, Filter filter, Map<String, HttpServlet> servlets) {
            this(contextPath, filter, servlets, EnumSet.allOf(DispatcherType.class));
        }
    }

    /** Starts a server that ends with the JVM. */
    abstract URI start(Site site) throws Exception;
}
