// What a client asks of the catalogue that is served.
package example.routerservice.client;

import example.routerservice.v1.CatalogServiceGrpc;
import example.routerservice.v1.ListEndpointsRequest;
import example.routerservice.v1.ListEndpointsResponse;
import example.routerservice.v1.ListPoliciesRequest;
import example.routerservice.v1.ListPoliciesResponse;
import example.routerservice.v1.ListWorkloadsRequest;
import example.routerservice.v1.ListWorkloadsResponse;
import example.routerservice.v1.Policy;
import example.routerservice.v1.ServedEndpoint;
import example.routerservice.v1.WatchCatalogRequest;
import example.routerservice.v1.WatchCatalogResponse;
import example.routerservice.v1.Workload;
import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** The RPCs of CatalogService. */
abstract sealed class CatalogCalls permits ServiceCalls {
  final Calls calls;
  final Duration timeout;

  CatalogCalls(Calls calls, Duration timeout) {
    this.calls = calls;
    this.timeout = timeout;
  }

  /**
   * The endpoints that are served now, by endpoint_id; a page is asked for when it is come to.
   *
   * @return each with its status, its circuit and what was observed of it
   */
  public Stream<ServedEndpoint> listEndpoints() {
    return paged(
        "",
        token ->
            calls.answer(
                CatalogServiceGrpc.getListEndpointsMethod(),
                ListEndpointsRequest.newBuilder().setPageToken(token).build(),
                timeout),
        ListEndpointsResponse::getEndpointsList,
        ListEndpointsResponse::getNextPageToken);
  }

  /**
   * The policies that are served now, by policy_id; a page is asked for when it is come to.
   *
   * @return those that the caller may use
   */
  public Stream<Policy> listPolicies() {
    return paged(
        "",
        token ->
            calls.answer(
                CatalogServiceGrpc.getListPoliciesMethod(),
                ListPoliciesRequest.newBuilder().setPageToken(token).build(),
                timeout),
        ListPoliciesResponse::getPoliciesList,
        ListPoliciesResponse::getNextPageToken);
  }

  /**
   * The workloads that are served now, every version of each; a page is asked for when it is come
   * to.
   *
   * @return by name and version
   */
  public Stream<Workload> listWorkloads() {
    return paged(
        "",
        token ->
            calls.answer(
                CatalogServiceGrpc.getListWorkloadsMethod(),
                ListWorkloadsRequest.newBuilder().setPageToken(token).build(),
                timeout),
        ListWorkloadsResponse::getWorkloadsList,
        ListWorkloadsResponse::getNextPageToken);
  }

  /**
   * The version of the catalogue that serves now, and each new one from the moment it serves.
   *
   * @return without an end: it waits for the next one. It is to be closed, which ends the call
   */
  public Stream<WatchCatalogResponse> watchCatalog() {
    Iterator<WatchCatalogRequest> one =
        List.of(WatchCatalogRequest.getDefaultInstance()).iterator();
    return calls.exchange(CatalogServiceGrpc.getWatchCatalogMethod(), one).stream();
  }

  /** The items of all pages, each page asked for when it is come to. */
  static <P, T> Stream<T> paged(
      String firstToken,
      Function<String, P> page,
      Function<P, List<T>> items,
      Function<P, String> nextToken) {
    Iterator<T> all =
        new Iterator<>() {
          private Iterator<T> left = Collections.emptyIterator();
          private String token = firstToken;
          private boolean isLast;

          @Override
          public boolean hasNext() {
            while (!left.hasNext() && !isLast) {
              P come = page.apply(token);
              left = items.apply(come).iterator();
              token = nextToken.apply(come);
              isLast = token.isEmpty();
            }
            return left.hasNext();
          }

          @Override
          public T next() {
            if (!hasNext()) {
              throw new NoSuchElementException("that was the last page");
            }
            return left.next();
          }
        };
    int kind = Spliterator.ORDERED | Spliterator.NONNULL;
    return StreamSupport.stream(Spliterators.spliteratorUnknownSize(all, kind), false);
  }
}
