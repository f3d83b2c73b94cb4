// A client beside a service that does what a test says, opened and closed around each test.
package example.routerservice.client;

import example.routerservice.v1.DecideRequest;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

abstract class WithService {
  static final Duration LONG = Duration.ofSeconds(30);
  static final DecideRequest ANY = DecideRequest.getDefaultInstance();
  ScriptedService service;
  RouterClient client;

  @BeforeEach
  void open() throws Exception {
    service = ScriptedService.start();
    client = RouterClient.builder().target(service.target()).timeout(LONG).build();
  }

  @AfterEach
  void close() {
    client.close();
    service.close();
  }
}
