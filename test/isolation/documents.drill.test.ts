import { testAttacks } from "./testAttacks.ts";
import { documents } from "./attacks/documents.ts";

testAttacks([...documents]);
