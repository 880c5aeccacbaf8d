import { accounts } from "./accounts.ts";
import type { Attack } from "./attack.ts";
import { batches } from "./batches.ts";
import { connections } from "./connections.ts";
import { documents } from "./documents.ts";
import { hostileEndpoints } from "./hostileEndpoints.ts";
import { manyWaiters } from "./manyWaiters.ts";
import { schemas } from "./schemas.ts";
import { turns } from "./turns.ts";

export const attacks: Attack[] = [
  ...schemas,
  ...connections,
  ...turns,
  ...documents,
  ...accounts,
  ...hostileEndpoints,
  ...batches,
  ...manyWaiters,
];
