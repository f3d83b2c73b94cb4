// Where a real service and a backend that does wrong are, as clients/conformance/live.py tells it.
package example.routerservice.client;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

/** Their places; tests that ask for them are skipped, with a word, where there are none. */
record Live(String router, String backend, String refused, String kind) {
  static final String VARIABLE = "ROUTER_SERVICE_LIVE";
  static final String MISSING =
      VARIABLE + " is not set: make test-clients ARGS=java starts a service beside the tests";

  static Live places() {
    String told = System.getenv(VARIABLE);
    JsonObject places = JsonParser.parseString(told).getAsJsonObject();
    return new Live(
        Vectors.text(places, "router"),
        Vectors.text(places, "backend"),
        Vectors.text(places, "refused"),
        Vectors.text(places, "kind"));
  }
}
