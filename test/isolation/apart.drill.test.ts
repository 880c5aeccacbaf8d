import { connections } from "./attacks/connections.ts";
import { documents } from "./attacks/documents.ts";
import { feedListeners, listeners } from "./attacks/listeners.ts";
import { runs } from "./attacks/runs.ts";
import { testAttacks } from "./testAttacks.ts";
import { turns } from "./attacks/turns.ts";

/* Some attacks on a process for each role, of which each has its own NATS user. */

const named = [...connections, ...turns, ...documents, ...runs].filter(({ title }) =>
  /200 requests for|300 streams|thread of 20 MB|1,000 files|1,000 others|300 steps/.test(title),
);

testAttacks([...feedListeners, ...listeners, ...named], { isApart: true });
