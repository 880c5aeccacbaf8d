import { ANTHROPIC } from "./anthropic/dialect.ts";
import type { Dialect } from "./dialect.ts";
import { GOOGLE } from "./google/dialect.ts";
import { OPENAI } from "./openai/dialect.ts";

/** The APIs that the conformance suites run against. */
export const DIALECTS: Dialect[] = [OPENAI, ANTHROPIC, GOOGLE];
