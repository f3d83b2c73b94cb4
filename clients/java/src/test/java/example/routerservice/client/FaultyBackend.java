// A backend on loopback that does wrong whatever its path names, over plain sockets.
package example.routerservice.client;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/** One answer a connection. */
final class FaultyBackend implements AutoCloseable {
  private static final String GOOD = "{\"total\": 12}";
  private static final Map<String, String> ANSWERS =
      Map.of(
          "good", http("200 OK", GOOD, GOOD.length()),
          "ill", http("503 Service Unavailable", "<html>", 6),
          "limited",
              http(
                  "429 Too Many Requests\r\nRetry-After: 30",
                  "{\"error\":{\"code\":\"rate_limit_exceeded\"}}",
                  40),
          "aws",
              http(
                  "400 Bad Request\r\nx-amzn-ErrorType: ThrottlingException:http://x/",
                  "{\"message\":\"slowly\"}",
                  20),
          "missing", http("404 Not Found", "{}", 2),
          "malformed", http("200 OK", "{\"total\": ", 10),
          "truncated", http("200 OK", GOOD.substring(0, 6), GOOD.length()));

  private static final Socket NOBODY = taken();

  final List<String> asked = new CopyOnWriteArrayList<>();

  /** Opened when a client hangs up on a hanging answer. */
  final CountDownLatch hungUp = new CountDownLatch(1);

  final CountDownLatch hanging = new CountDownLatch(1);
  private final ServerSocket listening;

  FaultyBackend() throws IOException {
    listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    daemon(this::serve);
  }

  private static String http(String status, String body, int length) {
    String head = "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n";
    return (head + "Connection: close\r\n\r\n%s").formatted(status, length, body);
  }

  URI uri(String fault) {
    return URI.create("http://127.0.0.1:" + listening.getLocalPort() + "/" + fault);
  }

  /** A URL at which nobody listens: its port is taken, so that nobody will. */
  static URI refused() {
    return URI.create("http://127.0.0.1:" + NOBODY.getLocalPort() + "/");
  }

  private static Socket taken() {
    try {
      Socket taken = new Socket();
      taken.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      return taken;
    } catch (IOException none) {
      throw new UncheckedIOException(none);
    }
  }

  private void serve() {
    try {
      while (true) {
        Socket connection = listening.accept();
        daemon(() -> answer(connection));
      }
    } catch (IOException closed) {
      // the test is over
    }
  }

  private void answer(Socket connection) {
    try (connection) {
      InputStream in = connection.getInputStream();
      byte[] read = new byte[65536];
      String request = new String(read, 0, in.read(read), StandardCharsets.UTF_8);
      String[] path = request.split(" ", 3)[1].split("/", -1);
      String fault = path[1];
      asked.add(fault);
      if (fault.equals("hang")) {
        hanging.countDown();
        while (in.read(read) >= 0) { // the rest of the request, if there is one, and then nothing
          Thread.onSpinWait();
        }
        hungUp.countDown();
      } else if (fault.equals("reset")) {
        connection.setSoLinger(true, 0);
      } else {
        connection.getOutputStream().write(ANSWERS.get(fault).getBytes(StandardCharsets.UTF_8));
      }
    } catch (IOException gone) {
      hungUp.countDown();
    }
  }

  private static void daemon(Runnable work) {
    Thread thread = new Thread(work, "faulty-backend");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() throws IOException {
    listening.close();
  }
}
