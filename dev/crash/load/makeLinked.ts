import { FormData } from "undici";
import { randomFrom } from "../random.ts";
import { PERSONAL } from "../topology.ts";
import {
  ASKED_AGENT,
  GUARDED_TOOL,
  guardedSource,
  LINKED_KINDS,
  linkedSourceOf,
  START_RATE,
  STORED_IN,
  type LinkedKind,
} from "../linkedWorkflows.ts";
import { CHAT, KNOWLEDGE, type Wire, type WireAnswer } from "./wire.ts";

/** A person who votes for all clients. */
export interface Voter {
  id: string;
  token: string;
  /** A file that some of the votes hand to the run. */
  file: string;
}

/** The setup for runs that depend on others, and the agent whose calls need an approval. */
export interface LinkedSetup {
  /** Ids of the workflows. */
  workflows: Record<LinkedKind, string>;
  voters: [Voter, Voter];
  /** A person who is no assignee: the first voter delegates approvals to this person, who is also the substitute of the second. */
  standIn: Voter;
  /** An agent whose tool runs only after an approval. */
  guardedAgent: string;
}

const GROUP = "crash_voters";
const DAY_MS = 24 * 60 * 60 * 1_000;
const APPROVALS = { allow_api_key_when_restricted: true };

/** Saves the workflows and the tool, and registers the voters; `effects` is the server that the tool calls. */
export async function makeLinked(wire: Wire, token: string, effects: { url: string }): Promise<LinkedSetup> {
  function ask(method: string, path: string, body: unknown): Promise<WireAnswer> {
    const random = randomFrom("linked", path, JSON.stringify(body));
    return wire.send("linked", { method, path, token, body }, random);
  }

  async function send(method: string, path: string, body: unknown): Promise<any> {
    const { status, body: answered, text } = await ask(method, path, body);
    if (status !== null && status < 300) return answered;
    throw new Error(`${method} ${path}: ${text}`);
  }

  async function uploadAs(owner: string, name: string): Promise<string> {
    const form = () => {
      const filled = new FormData();
      filled.set("file", new File([PERSONAL], name, { type: "text/plain" }));
      return filled;
    };
    const wanted = { method: "POST", path: `${CHAT}/files`, token: owner, form };
    const { status, body, text } = await wire.send("linked", wanted, randomFrom("linked", name));
    if (status !== 201) throw new Error(`POST ${CHAT}/files: ${text}`);
    return body.id;
  }

  async function makeVoter(n: number, tries = 1): Promise<Voter> {
    const email = `${PERSONAL}-voter-${n}-${tries}@example.com`;
    const person = { email, name: `Voter ${n}`, role: "approver" };
    const { status, code, body, text, attempts } = await ask("POST", "/api/members", person);
    // the answer with the password was lost
    if (code === "email_taken" && attempts > 1) return makeVoter(n, tries + 1);
    if (status !== 201) throw new Error(`POST /api/members: ${text}`);
    const { token: own } = await send("POST", "/api/auth/login", { email, password: body.password });
    return { id: body.id, token: own, file: await uploadAs(own, `voter-${n}.txt`) };
  }

  async function makeWorkflow(kind: LinkedKind): Promise<string> {
    const source = linkedSourceOf(kind);
    const { id } = await send("POST", "/api/definitions", { type: "workflow", name: `crash_${kind}`, source });
    const envelope =
      kind === "storing" ? { writable_collections: ["*"], start_rate: START_RATE } : { approvals: APPROVALS };
    return (await send("POST", "/api/workflows", { definition_id: id, name: kind, envelope })).id;
  }

  async function makeAgent(): Promise<string> {
    await send("POST", "/api/agents", { name: ASKED_AGENT, model: "openai/gpt-test" });
    await send("POST", "/api/definitions", { type: "tool", source: guardedSource(effects.url) });
    const guarded = { tools: [GUARDED_TOOL], tool_approvals: { [GUARDED_TOOL]: { allow_api_key: true } } };
    return (await send("POST", "/api/agents", { name: "Guarded", model: "openai/gpt-test", ...guarded })).id;
  }

  const voters: [Voter, Voter] = [await makeVoter(1), await makeVoter(2)];
  const standIn = await makeVoter(3);
  const until = new Date(Date.now() + DAY_MS).toISOString();
  await send("PUT", `/api/members/${voters[1].id}/substitute`, { substitute: standIn.id, until });
  await send("PUT", `/api/groups/${GROUP}`, { members: voters.map(({ id }) => id) });
  await send("POST", `${KNOWLEDGE}/collections`, { name: STORED_IN });
  const ids = {} as Record<LinkedKind, string>;
  for (const kind of LINKED_KINDS) ids[kind] = await makeWorkflow(kind);
  return { workflows: ids, voters, standIn, guardedAgent: await makeAgent() };
}
