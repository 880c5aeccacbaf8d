import { testAttacks } from "./testAttacks.ts";
import { records } from "./attacks/records.ts";

testAttacks([...records]);
