"""What Envoy sends and is sent: headers, contexts and logs become asks and reports, answers become Envoy's messages."""
