import type { Facts, Journal, Operation, OperationKind } from "../journal.ts";
import type { LinkedSetup } from "./makeLinked.ts";
import type { Random } from "../random.ts";
import type { WireAnswer, WireRequest, Wire } from "./wire.ts";
import type {
  KnownDocument,
  KnownKey,
  KnownMember,
  KnownLinkedRun,
  KnownProject,
  KnownRun,
  KnownWorkflow,
} from "./known.ts";

/** What one client owns and knows. Threads are shared with the client's partner; everything else is its own. */
export interface Session {
  client: number;
  journal: Journal;
  wire: Wire;
  /** API key of the client and its partner. */
  api_key: string;
  admin: { email: string; password: string };
  /** The end user of both. */
  user: string;
  threads: string[];
  files: string[];
  /** The collection of the client and its partner. */
  collection: string;
  documents: KnownDocument[];
  /** An agent with a tool, and the responses that the client received from it. */
  agent: string;
  /** An agent used only by this client, which turns its API on and off. */
  switched: string;
  responses: string[];
  extractions: string[];
  /** The workflows of all clients, and the runs that this client and its partner started. */
  workflows: KnownWorkflow[];
  runs: KnownRun[];
  /** The setup for runs that depend on others, and such runs of this client and its partner. */
  linked: LinkedSetup;
  linkedRuns: KnownLinkedRun[];
  /** WireAnswer turns, `chatcmpl-…` and `resp_…`. */
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

/** One operation: its choices depend on the seed and its number, not on earlier outcomes. */
export interface Action {
  id: string;
  random: Random;
  session: Session;
}

interface OperationRequest {
  what: OperationKind;
  asked: Facts;
  wanted: WireRequest;
  keyed?: boolean;
  /** The facts in a successful answer. */
  read?(answered: WireAnswer): Facts;
}

const isSuccess = ({ status }: WireAnswer): boolean => status !== null && status >= 200 && status < 300;

function outcomeOf(what: OperationKind, answered: WireAnswer): Operation["outcome"] {
  const { status, attempts, text } = answered;
  if (isSuccess(answered)) return what === "chat" && /^data: \{"error"/m.test(text) ? "failed" : "done";
  // an earlier attempt, whose answer was lost, removed it
  if (status === 404 && attempts > 1 && what.endsWith(".delete")) return "done";
  if (status === 401 && attempts > 1 && what === "logout") return "done";
  if (status === 502 && what === "chat") return "failed";
  return status !== null && status < 500 ? "refused" : "unknown";
}

/** Sends a request until it is answered, and journals both. */
export async function perform({ id, session, random }: Action, request: OperationRequest): Promise<Operation> {
  const { what, asked, wanted, keyed = false, read = () => ({}) } = request;
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

/** The header for an operation that must take effect only once, however often it is sent. */
export const onceOnly = (id: string): Record<string, string> => ({ "idempotency-key": id });
