import { expect, test } from "vitest";
import { UNKNOWN } from "../http/service.ts";
import { agentClient, startAgents } from "./agents.ts";

/* Errors about the agent in the path come before errors about the request's headers, body and other ids. */

const agents = await startAgents();

test.each<[string, () => string | Promise<string>, number, string]>([
  ["is no UUID", () => "first", 400, "invalid_agent_id"],
  ["does not exist", () => UNKNOWN, 404, "agent_not_found"],
  ["has its API switched off", () => agents.agent({ api_enabled: false }), 403, "agent_api_disabled"],
])("an agent that %s is refused first", async (_, id, status, code) => {
  const { call } = agentClient(agents.url, agents.api_key, await id());
  const asked = [
    ...["{", "[]", "{}", '{"input":""}', '{"input":"x","stream":5}', '{"input":"x","tools":[{}]}'].map((body) =>
      call("POST", "/responses", body),
    ),
    call("POST", "/responses", "x", { "content-type": "text/plain" }),
    call("POST", "/responses", { input: "x" }, { "x-thread-id": "t1" }),
    call("GET", "/responses/r1", undefined, { "x-thread-id": "t1" }),
    call("DELETE", "/responses/r1", undefined, { "x-thread-id": "t1" }),
    call("GET", "/models", undefined, { "x-thread-id": "t1" }),
  ];
  const answers = await Promise.all(asked);
  expect(answers.map((answer) => [answer.status, answer.body.error.code])).toEqual(answers.map(() => [status, code]));
});

test("a large body for an agent that does not exist is answered, and the connection stays usable", async () => {
  const { call } = agentClient(agents.url, agents.api_key, UNKNOWN);
  const body = { input: "x".repeat(20_000_000) };
  for (const _ of [1, 2]) expect((await call("POST", "/responses", body)).body.error.code).toBe("agent_not_found");
});
