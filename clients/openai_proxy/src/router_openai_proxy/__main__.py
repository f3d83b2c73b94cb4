"""`python -m router_openai_proxy`, as the command."""

import sys

from router_openai_proxy.cli import main

sys.exit(main())
