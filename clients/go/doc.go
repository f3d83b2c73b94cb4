// Package routerservice asks a router-service which LLM endpoint a request may go to, and in which order to fall back.
//
// [RouterClient] has the service's calls as methods. [Run] is the whole of what a caller has to do: it decides, calls
// the candidates in order, tries again only where that makes sense, keeps to the deadline, and reports.
//
// A refusal is an answer and returned as one; what cannot be answered is a [*RouterError]. There is no default endpoint:
// where the service gives no answer, the request may go nowhere.
//
// Messages are those of the package router-service.example/clients/go/v1, whose comments say what each field means.
package routerservice

// Version is the version of this library.
const Version = "0.1.0"
