import { testAttacks } from "./testAttacks.ts";
import { accounts } from "./attacks/accounts.ts";

testAttacks([...accounts]);
