import { testAttacks } from "./testAttacks.ts";
import { connections } from "./attacks/connections.ts";
import { hostileEndpoints } from "./attacks/hostileEndpoints.ts";

testAttacks([...connections, ...hostileEndpoints]);
