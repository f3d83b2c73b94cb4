"""What outlives a process: spending, traces, reports, catalogue versions. One interface, two stores."""
