import { beforeAll, expect, test } from "vitest";
import { openWorkflows, workflowSource, type Workflows } from "./harness.ts";

/* Groups that approvals name are looked up when they are asked for. */

let w: Workflows;
const people: string[] = [];
const put = (group: string, members: string[]) => w.home.made(w.home.owner("PUT", `/groups/${group}`, { members }));
beforeAll(async () => {
  w = await openWorkflows();
  for (const name of ["ann", "bob"]) people.push((await w.home.member("approver", name)).id);
  await put("pair", people);
});

const ASKS = workflowSource('return ctx.awaitApproval("boss", args.terms);');
/** The place of the call in the source of ASKS. */
const PLACE = { line: 4, column: expect.any(Number) };
const refusal = async (terms: object) => {
  const { status, error, error_info } = await w.home.run(ASKS, { terms });
  expect([status, error_info]).toEqual(["failed", expect.objectContaining({ code: "run_error", ...PLACE })]);
  return error.replace(/^awaitApproval: /, "");
};

test("an unknown group fails the run at the call", async () => {
  const assignees = [{ role: "owner" }, { group: "Nobody" }];
  expect(await refusal({ assignees })).toBe("assignees: the group Nobody does not exist.");
  const escalate = { after: "1d", to: [{ group: "nobody" }] };
  expect(await refusal({ assignees: [{ group: "Pair" }], escalate })).toBe(
    "escalate.to: the group nobody does not exist.",
  );
});

test("an approval for a group without members fails, and an approval for a group with a member is requested", async () => {
  const gone = await w.home.member("approver", "gone");
  await put("left", [gone.id]);
  await w.home.made(w.home.owner("PATCH", `/members/${gone.id}`, { active: false }));
  expect(await refusal({ assignees: [{ group: "left" }] })).toBe("assignees: the group left has no members.");
  await put("left", [people[0]!]);
  await w.home.pending(await w.home.start(await w.home.register(ASKS), { terms: { assignees: [{ group: "left" }] } }));
});

test("an approval that requires more votes than it has people fails", async () => {
  const twice = [{ group: "pair" }, { person: people[0] }];
  expect(await refusal({ assignees: twice, required: 3 })).toBe("required is 3, but only 2 people are asked.");
  const workflow = await w.home.register(ASKS);
  const asked = async (terms: object) => w.home.pending(await w.home.start(workflow, { terms }));
  await asked({ assignees: twice, required: 2 });
  await asked({ assignees: [{ group: "pair" }, { role: "owner" }], required: 3 });
});

test("a change of a group does not overwrite one that its author has not seen", async () => {
  const [ann, bob] = people as [string, string];
  const read = async () => w.home.made(w.home.owner("GET", "/groups/shared"));
  const change = (members: string[], updated_at: string) =>
    w.home.owner("PUT", "/groups/shared", { members, updated_at });
  const changed = { status: 409, body: { error: { code: "group_changed", param: "updated_at" } } };
  const { updated_at: first } = await put("shared", [ann, bob]);
  const removal = await change([ann], first);
  expect(removal.status).toBe(200);
  expect(await change([ann, bob], first)).toMatchObject(changed);
  expect((await read()).members).toMatchObject([{ id: ann }]);
  // a repeated request, for example after a lost answer
  expect((await change([ann], first)).body).toEqual(removal.body);
  const both = await Promise.all([[bob], [ann, bob]].map((members) => change(members, removal.body.updated_at)));
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  expect(both.find(({ status }) => status === 409)).toMatchObject(changed);
  const { updated_at: last, members } = await read();
  expect(both.find(({ status }) => status === 200)!.body.members).toEqual(members);
  await w.home.made(w.home.owner("DELETE", "/groups/shared"));
  expect(await change([bob], last)).toMatchObject(changed);
  expect((await w.home.owner("GET", "/groups/shared")).status).toBe(404);
});

test("a pending approval remains if its group is deleted", async () => {
  await put("passing", [people[0]!]);
  const run = await w.home.start(
    await w.home.register(
      workflowSource(
        `const [answer] = await Promise.all([
           ctx.awaitApproval("boss", { title: "Go?", assignees: [{ group: "passing" }, { role: "owner" }] }),
           ctx.waitForEvent("gone", { match: { run: ctx.runId } }).then(() => ctx.runStep("mark", {})),
         ]);
         return answer.approved;`,
        "mark: async () => 1",
      ),
    ),
  );
  const [approval] = await w.home.pending(run);
  await w.home.made(w.home.owner("DELETE", "/groups/passing"));
  expect((await w.home.owner("GET", "/groups/passing")).status).toBe(404);
  await w.home.made(w.home.key("POST", "/workflows/events", { name: "gone", data: { run }, id: run }));
  await w.home.until(run, ({ steps }) => steps.some(({ status }: any) => status === "completed"));
  await w.home.made(w.home.decide(approval));
  expect((await w.home.untilOver(run)).result).toBe(true);
});
