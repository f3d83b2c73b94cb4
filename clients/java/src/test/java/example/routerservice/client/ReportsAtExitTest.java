// A program that ends, or is ended, without closing its client: its reports arrive all the same.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import example.routerservice.v1.DecideRequest;
import io.grpc.Status;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReportsAtExitTest {
  private static final String KILLED = "killed";

  /** The program: one run, and then the end, or a wait for it. */
  public static final class Program {
    private Program() {}

    /**
     * Runs once.
     *
     * @param arguments the service, and how it ends
     * @throws Exception the run failed
     */
    public static void main(String[] arguments) throws Exception {
      RouterClient client = RouterClient.connect(arguments[0]);
      client.run(DecideRequest.getDefaultInstance(), attempt -> "words").answer();
      System.out.println("answered");
      if (arguments[1].equals(KILLED)) {
        Thread.sleep(60_000);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"at its end", KILLED})
  void reportsArrive(String how) throws Exception {
    try (ScriptedService service = ScriptedService.start()) {
      service.answers.addAll(
          List.of(Status.UNAVAILABLE, Status.UNAVAILABLE)); // it is not told at once
      Process program =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:TieredStopAtLevel=1",
                  "-cp",
                  System.getProperty("java.class.path"),
                  Program.class.getName(),
                  service.target(),
                  how)
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      assertEquals("answered", program.inputReader().readLine());
      if (how.equals(KILLED)) {
        program.destroy();
      }
      assertTrue(program.waitFor(60, TimeUnit.SECONDS));
      assertEquals(1, service.reports.size());
      assertEquals("accepted", service.reports.get(0).getOutcome());
    }
  }
}
