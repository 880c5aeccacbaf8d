import type { Facts, Journal, Operation, What } from "../journal.ts";
import type { Random } from "../random.ts";
import type { KnownDocument } from "./documents.ts";
import type { KnownMember } from "./members.ts";
import type { KnownProject } from "./projects.ts";
import type { KnownRun } from "./runs.ts";
import type { KnownWorkflow } from "./workflows.ts";
import type { Answered, Wanted, Wire } from "./wire.ts";

/** What one client has and knows. Threads are shared with the client's partner, everything else is its own. */
export interface Session {
  client: number;
  journal: Journal;
  wire: Wire;
  /** API key of the client and its partner. */
  api_key: string;
  admin: { email: string; password: string };
  /** The end user that both act for. */
  user: string;
  threads: string[];
  files: string[];
  /** The collection of the client and its partner. */
  collection: string;
  documents: KnownDocument[];
  /** An agent with a tool, and the responses that the client has from it. */
  agent: string;
  responses: string[];
  extractions: string[];
  /** Everybody's workflows, and the runs that the client and its partner have started. */
  workflows: KnownWorkflow[];
  runs: KnownRun[];
  /** Turns that were answered, `chatcmpl-…` and `resp_…`. */
  answered: string[];
  keys: KnownKey[];
  endedKeys: KnownKey[];
  members: KnownMember[];
  projects: KnownProject[];
  providers: string[];
  /** Session token of the signed-in person. */
  token: string | undefined;
  endedTokens: string[];
  providerUrl: string;
}

export interface KnownKey {
  id: string;
  secret: string | undefined;
  project_id: string | undefined;
}

/** One thing to do: its choices come from the seed and its number, not from how the ones before went. */
export interface Doing {
  id: string;
  random: Random;
  session: Session;
}

interface Performance {
  what: What;
  asked: Facts;
  wanted: Wanted;
  keyed?: boolean;
  /** What the answer of success says. */
  read?(answered: Answered): Facts;
}

const isSuccess = ({ status }: Answered): boolean => status !== null && status >= 200 && status < 300;

function outcomeOf(what: What, answered: Answered): Operation["outcome"] {
  const { status, attempts, text } = answered;
  if (isSuccess(answered)) return what === "chat" && /^data: \{"error"/m.test(text) ? "failed" : "done";
  // an earlier try, whose answer was lost, has removed it
  if (status === 404 && attempts > 1 && what.endsWith(".delete")) return "done";
  if (status === 401 && attempts > 1 && what === "logout") return "done";
  if (status === 502 && what === "chat") return "failed";
  return status !== null && status < 500 ? "refused" : "unknown";
}

/** Sends what is wanted until there is an answer, and notes both. */
export async function perform({ id, session, random }: Doing, performance: Performance): Promise<Operation> {
  const { what, asked, wanted, keyed = false, read = () => ({}) } = performance;
  const { journal, client } = session;
  const start = journal.now();
  const answered = await session.wire.send(id, wanted, random);
  const outcome = outcomeOf(what, answered);
  const { status, code, attempts } = answered;
  const got = isSuccess(answered) ? read(answered) : {};
  const operation: Operation = {
    kind: "operation",
    id,
    client,
    what,
    start,
    end: journal.now(),
    outcome,
    status,
    code,
    attempts,
    keyed,
    asked,
    got,
  };
  journal.note(operation);
  return operation;
}

/** Key of an operation that must happen once, however often it is sent. */
export const onceOnly = (id: string): Record<string, string> => ({ "idempotency-key": id });
export const CHAT = "/api/openai/v1";
export const KNOWLEDGE = "/api/v1/knowledge";
