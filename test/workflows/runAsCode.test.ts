import { expect, test } from "vitest";
import { code, openWorkflows } from "./harness.ts";

/* Runs that act for a person run only code that this person has chosen: it may read what only the person may read. */

const w = await openWorkflows();
const { home } = w;
const REFUSED = [400, "invalid_run_as"];
const RETURNS = (value: number) => `export async function run(ctx) { return ctx.complete(${value}); }`;

const { user } = (await home.owner("GET", "/auth/me")).body;
const builder = await home.member("builder");
const forOwner = { run_as: { type: "person", id: user.id as string } };
const forService = { run_as: { type: "service" } };

/** A workflow at the first of two versions, which the owner has registered. */
async function register(envelope: object) {
  const workflow = await home.register(RETURNS(1), {}, { envelope });
  await home.made(home.owner("PATCH", `/definitions/${workflow.definition.id}`, { source: RETURNS(2) }));
  const patch = (body: object, by = builder.call) => by("PATCH", `/workflows/${workflow.id}`, body);
  return { workflow, patch };
}

test("nobody else may choose the code of a workflow that acts for a person", async () => {
  const { workflow, patch } = await register(forOwner);
  for (const change of [
    { definition_version: 2 },
    { definition_version: null },
    { definition_version: 2, envelope: forOwner },
  ])
    expect(code(await patch(change))).toEqual(REFUSED);
  expect((await patch({ definition_version: 1, name: "Renamed", envelope: { egress: [] } })).status).toBe(200);
  expect((await patch({ definition_version: 2 }, home.owner)).status).toBe(200);
  expect((await patch({ definition_version: 1, envelope: forService })).status).toBe(200);
  expect((await home.owner("GET", `/workflows/${workflow.id}`)).body).toMatchObject({
    definition: { version: 1 },
    envelope: { run_as: { type: "service", id: null } },
  });
});

test("nor of one with a trigger whose runs act for a person, until it is gone", async () => {
  const { workflow, patch } = await register({});
  const { id } = await home.hook(workflow, forOwner);
  const answer = await patch({ definition_version: 2 });
  expect([...code(answer), answer.body.error.param]).toEqual([...REFUSED, "definition_version"]);
  await home.made(home.owner("DELETE", `/workflows/${workflow.id}/triggers/${id}`));
  expect((await patch({ definition_version: 2 })).status).toBe(200);
});

test("nor fork a run that acts for a person with other code", async () => {
  const { workflow } = await register(forOwner);
  const run = await home.start(workflow);
  await home.untilOver(run);
  const fork = (body: object, by = builder.call) => by("POST", `/workflows/runs/${run}/fork`, body);
  expect(code(await fork({ definition_version: null }))).toEqual(REFUSED);
  expect((await fork({})).status).toBe(202);
  expect((await fork({ definition_version: 2 }, home.owner)).status).toBe(202);
});

test("the id of a person is the same in upper case", async () => {
  const envelope = { run_as: { type: "person", id: user.id.toUpperCase() } };
  const { workflow } = await register(envelope);
  expect(workflow.envelope.run_as).toEqual(forOwner.run_as);
});
