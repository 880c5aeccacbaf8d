import { setTimeout as sleep } from "node:timers/promises";
import { randomFrom } from "../random.ts";
import { PERSONAL } from "../topology.ts";
import { eventsIn } from "./agents.ts";
import { onceOnly, perform, type Action } from "./session.ts";

/** How long the client reads the stream of a turn that will wait for a person. */
const PATIENCE_MS = 1_500;
const LOOKS = 6;
const PAUSE_MS = 300;
const WAYS = { approve: 50, reject: 20, twice: 10, race: 15, leave: 5 };

type Decision = "approve" | "reject";

/** The pending approval of a response, once it is in the inbox. */
async function findApproval(action: Action, token: string, response_id: string): Promise<string | undefined> {
  const path = "/api/workflows/approvals?status=pending&limit=500";
  for (let n = 0; n < LOOKS; n++, await sleep(PAUSE_MS)) {
    const { body } = await action.session.wire.send(`${action.id}-look`, { method: "GET", path, token }, action.random);
    const found = body?.data?.find((one: any) => one.tool_call?.response_id === response_id);
    if (found) return found.id;
  }
  return undefined;
}

async function decide(action: Action, part: string, approval_id: string, decision: Decision): Promise<void> {
  const id = `${action.id}-${part}`;
  await perform(
    { ...action, id, random: randomFrom("decide", id) },
    {
      what: "tool.decide",
      asked: { approval_id, decision },
      wanted: {
        method: "POST",
        path: `/api/workflows/approvals/${approval_id}/decision`,
        token: action.session.api_key,
        body: { decision, comment: PERSONAL },
      },
      read: ({ body }) => ({ status: body.status }),
    },
  );
}

/** Asks the agent for a call that needs an approval, disconnects, and decides: once, twice, both ways at once, or not at all. */
export async function askGuarded(action: Action, token: string): Promise<void> {
  const { id, session, random } = action;
  const asked = await perform(action, {
    what: "agent.ask",
    keyed: true,
    asked: {},
    wanted: {
      method: "POST",
      path: `/api/agents/${session.linked.guardedAgent}/v1/responses`,
      token: session.api_key,
      headers: onceOnly(id),
      body: { input: `[act] <${id}> ${PERSONAL}`, user: session.user, stream: true },
      patience_ms: PATIENCE_MS,
    },
    read: ({ text }) => ({ response_id: eventsIn(text)[0]?.response?.id }),
  });
  const { response_id } = asked.got;
  if (!response_id) return;
  const approval = await findApproval(action, token, response_id);
  if (approval === undefined) return;
  const way = random.weighted(WAYS);
  if (way === "approve" || way === "reject") await decide(action, "a", approval, way);
  if (way === "twice") for (const part of ["a", "b"]) await decide(action, part, approval, "approve");
  if (way === "race")
    await Promise.all([decide(action, "a", approval, "approve"), decide(action, "b", approval, "reject")]);
}
