// Where a real service and a backend that does wrong are, as clients/conformance/live.py tells it.
package example.routerservice.client;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import org.junit.jupiter.api.Assumptions;

/** Their places. */
record Live(String router, String backend, String refused, String kind) {
  private static final String VARIABLE = "ROUTER_SERVICE_LIVE";

  /** The places; without them the test is skipped. */
  static Live places() {
    String told = System.getenv(VARIABLE);
    Assumptions.assumeTrue(
        told != null, VARIABLE + " is not set: make test-clients ARGS=java starts a service");
    JsonObject places = JsonParser.parseString(told).getAsJsonObject();
    return new Live(
        Vectors.text(places, "router"),
        Vectors.text(places, "backend"),
        Vectors.text(places, "refused"),
        Vectors.text(places, "kind"));
  }
}
