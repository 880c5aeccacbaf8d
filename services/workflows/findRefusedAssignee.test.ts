import { expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import type { Role } from "#events/user.ts";
import { runCreated } from "#test/samples.ts";
import { DEFAULT_ENVELOPE } from "../deciders/envelope.ts";
import { organization } from "../deciders/organization.ts";
import { workflow } from "../deciders/workflow.ts";
import { findRefusedAssignee } from "./findRefusedAssignee.ts";
import type { ApprovalCall } from "./newApprovals.ts";

const [ANN, BOB, EVE] = [newId(), newId(), newId()];
const member = (role: Role, name: string, active = true) => ({ role, active, email_claim: `email ${name}`, epoch: 1 });
const MEMBERS = {
  [ANN]: member("approver", "ann@x.de"),
  [BOB]: member("owner", "bob@x.de"),
  [EVE]: member("viewer", "eve@x.de"),
};

const stream = streamName("organization", "o");
const workflowStream = streamName("workflow", runCreated().data.workflow_id);
/** An organization without groups, and a workflow with these rules of approvals. */
const logOf = (members: object, rules: object) => ({
  heads: async ([name]: string[]) => {
    const ofPeople = { status: "active", members, scripted_tools: true, ocr_languages: null };
    const envelope = { ...DEFAULT_ENVELOPE, approvals: { ...DEFAULT_ENVELOPE.approvals, ...rules } };
    const head = { organization_id: "o", version: 1 };
    const heads = new Map([
      [stream, { ...head, stream, state: ofPeople, state_version: organization.version }],
      [
        workflowStream,
        { ...head, stream: workflowStream, state: { status: "registered", envelope }, state_version: workflow.version },
      ],
    ] as [string, object][]);
    return new Map([...heads].filter(([known]) => known === name)) as Map<string, never>;
  },
  read: async () => [],
  readNewest: async () => [],
});
const keyring = { keyedHash: (purpose: string, text: string) => `${purpose} ${text}` };

async function refusalOf(options: object, members: object = {}, { starter = BOB, rules = {} } = {}) {
  const { data: created } = runCreated({ started_by: { type: "person", id: starter } });
  const call = { key: "k", options } as unknown as ApprovalCall;
  const deps = { log: logOf(members, rules), keyring };
  return (await findRefusedAssignee(deps, { organization_id: "o", created }, [call]))?.message;
}
const people = (...names: string[]) => names.map((person) => ({ person }));
const votes = { required: 2, one_rejection_ends: true };

test("a person who is named twice counts as one voter", async () => {
  const only = "awaitApproval: required is 2, but only 1 person is asked.";
  expect(await refusalOf({ assignees: people("ann@x.de", "Ann@X.de"), votes })).toBe(only);
  const escalate = { after_ms: 1, to: people("ann@x.de") };
  expect(await refusalOf({ assignees: people("ann@x.de", "ann@x.de"), escalate, votes })).toBe(only);
  expect(await refusalOf({ assignees: people("Ann@x.de", ANN.toUpperCase()), votes }, MEMBERS)).toBe(only);
});

test("people who may not decide do not count", async () => {
  const only = "awaitApproval: required is 2, but only 1 of the people who are asked may decide it.";
  expect(await refusalOf({ assignees: people(ANN, EVE), votes }, MEMBERS)).toBe(only);
  const left = { ...MEMBERS, [BOB]: member("owner", "bob@x.de", false) };
  expect(await refusalOf({ assignees: people(ANN, "bob@x.de"), votes }, left)).toBe(only);
  const own = { assignees: people(ANN, "bob@x.de"), votes, self_approval: false };
  expect(await refusalOf(own, MEMBERS)).toBe(only);
  expect(await refusalOf(own, MEMBERS, { starter: EVE })).toBeUndefined();
  const nobody = "awaitApproval: nobody who is asked may decide it.";
  expect(await refusalOf({ ...own, assignees: people(EVE, "bob@x.de") }, MEMBERS)).toBe(nobody);
});

test("an approval that API keys may decide too is not refused", async () => {
  const byKeys = { assignees: people(ANN, EVE), votes, api_key_may_decide: true };
  const allow_api_key_when_restricted = true;
  expect(await refusalOf(byKeys, MEMBERS, { rules: { allow_api_key_when_restricted } })).toBeUndefined();
  const refused = expect.stringContaining("only 1 of the people");
  expect(await refusalOf(byKeys, MEMBERS)).toEqual(refused);
  const without = { allow_api_key_when_restricted, allow_api_key: false };
  expect(await refusalOf(byKeys, MEMBERS, { rules: without })).toEqual(refused);
  const noKeys = { ...byKeys, api_key_may_decide: false };
  expect(await refusalOf(noKeys, MEMBERS, { rules: { allow_api_key_when_restricted } })).toEqual(refused);
});

test.each([
  ["two people are asked", { assignees: people("ann@x.de", "bob@x.de"), votes }],
  ["nobody is named, so that everybody who may decide is asked", { assignees: [], votes }],
  ["a role is asked, whose members are not counted", { assignees: [{ role: "owner" }], votes }],
  ["one vote decides", { assignees: people("ann@x.de", "ann@x.de") }],
])("an approval is not refused if %s", async (_, options) => {
  expect(await refusalOf(options)).toBeUndefined();
  expect(await refusalOf(options, MEMBERS)).toBeUndefined();
});
