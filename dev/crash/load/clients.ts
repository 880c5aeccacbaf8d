import type { Journal } from "../journal.ts";
import { randomFrom } from "../random.ts";
import { PERSONAL, type Topology } from "../topology.ts";
import { OUT_OF_REACH, PAGES_OUT_OF_REACH } from "./budgets.ts";
import { readAudit } from "./audit.ts";
import { ALIAS, ALIAS_TARGETS } from "./chat.ts";
import { readEverything, runClient } from "./client.ts";
import { makeLinked } from "./makeLinked.ts";
import { startProbe } from "./probe.ts";
import { makeSchedules } from "./schedules.ts";
import type { Session } from "./session.ts";
import type { Act } from "./weights.ts";
import { KNOWLEDGE, openWire, type Wire } from "./wire.ts";
import { watchReadiness } from "./watchReadiness.ts";
import { makeWorkflows } from "./workflows.ts";

interface ClientsOptions {
  seed: number;
  clients: number;
  topology: Topology;
  journal: Journal;
  providerUrl: string;
  effects: { host: string; url: string };
  /** Operations that the clients favour. */
  favoured: readonly Act[];
}

async function signedIn(wire: Wire, admin: { email: string; password: string }, name: string): Promise<string> {
  const login = { method: "POST", path: "/api/auth/login", body: admin };
  return (await wire.send(name, login, randomFrom(name))).body.token;
}

/** An agent that can search. */
async function newAgent(wire: Wire, admin: { email: string; password: string }): Promise<string> {
  const token = await signedIn(wire, admin, "agent");
  const body = { name: "Crash", model: "openai/gpt-test", tools: ["search_documents"] };
  const create = { method: "POST", path: "/api/agents", token, body };
  return (await wire.send("agent", create, randomFrom("agent"))).body.id;
}

async function newKey(wire: Wire, admin: { email: string; password: string }, name: string): Promise<string> {
  const token = await signedIn(wire, admin, name);
  const create = { method: "POST", path: "/api/keys", token, body: { name } };
  const made = await wire.send(name, create, randomFrom(name));
  return made.body.key;
}

async function newCollection(wire: Wire, token: string, name: string): Promise<string> {
  const create = { method: "POST", path: `${KNOWLEDGE}/collections`, token, body: { name } };
  return (await wire.send(name, create, randomFrom(name))).body.slug;
}

async function makeAlias(wire: Wire, admin: { email: string; password: string }): Promise<void> {
  const token = await signedIn(wire, admin, "alias");
  const body = { targets: ALIAS_TARGETS.map((model) => ({ model })) };
  const put = { method: "PUT", path: `/api/aliases/${ALIAS}`, token, body };
  const { status, text } = await wire.send("alias", put, randomFrom("alias"));
  if (status !== 200) throw new Error(`The alias cannot be made: ${status} ${text}`);
}

/** One of the models that the clients ask has a price, so their usage has a cost and turns without one. Pages have one, too. */
async function setPrices(wire: Wire, admin: { email: string; password: string }): Promise<void> {
  const token = await signedIn(wire, admin, "price");
  const body = { prices: [{ input: "0.15", output: "0.6", cached_input: "0.075", per_call: "0.0001" }] };
  await wire.send("price", { method: "PUT", path: "/api/prices/openai/gpt-test", token, body }, randomFrom("price"));
  const pages = { method: "PUT", path: "/api/prices/reading/pages", token, body: { prices: [{ per_page: "0.0015" }] } };
  await wire.send("pages", pages, randomFrom("pages"));
  const ofAll = { ...OUT_OF_REACH, ...PAGES_OUT_OF_REACH };
  for (const [query, body] of Object.entries({ "": ofAll, "?model=openai/gpt-test": OUT_OF_REACH })) {
    const budget = { method: "PUT", path: `/api/budgets/organization${query}`, token, body };
    await wire.send("budget", budget, randomFrom(`budget${query}`));
  }
}

/** Starts the clients; two share an API key, an end user and threads. */
export async function startClients(options: ClientsOptions) {
  const { seed, clients, topology, journal, providerUrl, effects, favoured } = options;
  const { ports, credentials, other } = topology;
  const sessions: Session[] = [];
  await setPrices(openWire(journal, ports, 0), credentials.admin);
  await makeAlias(openWire(journal, ports, 0), credentials.admin);
  for (let client = 0; client < clients; client++) {
    const wire = openWire(journal, ports, client);
    const partner = client % 2 === 1 ? sessions[client - 1] : undefined;
    const api_key = partner?.api_key ?? (await newKey(wire, credentials.admin, `pair-${client}`));
    const agent = sessions[0]?.agent ?? (await newAgent(wire, credentials.admin));
    const workflows =
      sessions[0]?.workflows ??
      (await makeWorkflows(wire, await signedIn(wire, credentials.admin, "workflows"), effects));
    const linked =
      sessions[0]?.linked ?? (await makeLinked(wire, await signedIn(wire, credentials.admin, "linked"), effects));
    const collection = partner?.collection ?? (await newCollection(wire, api_key, `pair-${client}`));
    sessions.push({
      client,
      journal,
      wire,
      api_key,
      admin: credentials.admin,
      user: `${PERSONAL}-${client >> 1}`,
      threads: partner?.threads ?? [],
      files: [],
      collection,
      documents: partner?.documents ?? [],
      extractions: [],
      agent,
      switched: await newAgent(wire, credentials.admin),
      responses: [],
      workflows,
      runs: partner?.runs ?? [],
      linked,
      linkedRuns: partner?.linkedRuns ?? [],
      answered: [],
      keys: [],
      endedKeys: [],
      members: [],
      projects: [],
      providers: [],
      token: undefined,
      endedTokens: [],
      providerUrl,
    });
  }
  const wire = openWire(journal, ports, 0);
  const schedules = await makeSchedules(
    wire,
    await signedIn(wire, credentials.admin, "schedules"),
    sessions[0]!.workflows[0]!,
  );
  const probe = startProbe({ journal, ports, credentials: other });
  const readiness = watchReadiness({ journal, topology });
  let stopped = false;
  const running = Promise.all(
    sessions.map((session) => runClient(seed, session, { favoured, stopped: () => stopped })),
  );
  return {
    async stop(): Promise<void> {
      stopped = true;
      await Promise.all([running, probe.stop(), readiness.stop()]);
      await schedules.pause();
    },
    readEverything: async () => void (await Promise.all(sessions.map((session) => readEverything(seed, session)))),
    /** Every organization's owner reads its events up to a position. */
    async readAudits(head: number): Promise<void> {
      for (const [n, owner] of [credentials, other].entries())
        await readAudit({ id: `audit-${n}`, session: sessions[0]!, random: randomFrom("audit", n) }, owner, head);
    },
    close: async () =>
      void (await Promise.all([wire, ...sessions.map((session) => session.wire)].map((one) => one.close()))),
  };
}
