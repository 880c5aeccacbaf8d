import { listeners } from "./attacks/listeners.ts";
import { testAttacks } from "./testAttacks.ts";

testAttacks(listeners);
