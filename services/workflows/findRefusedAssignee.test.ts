import { expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import type { Role } from "#events/user.ts";
import { runCreated } from "#test/samples.ts";
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
/** An organization without groups, and the rules for approvals of the run's workflow. */
const logOf = (members: object, approvals: object) => ({
  heads: async ([name]: string[]) => {
    const active = { status: "active", members, scripted_tools: true, ocr_languages: null };
    const registered = { status: "registered", envelope: { approvals } };
    const heads = [
      { stream, organization_id: "o", version: 1, state: active, state_version: organization.version },
      { stream: "workflow-w1", organization_id: "o", version: 1, state: registered, state_version: workflow.version },
    ];
    const head = heads.find((one) => one.stream === name);
    return new Map(head ? [[head.stream, head]] : []) as Map<string, never>;
  },
  read: async () => [],
  readNewest: async () => [],
});
const keyring = { keyedHash: (purpose: string, text: string) => `${purpose} ${text}` };

async function refusalOf(options: object, members: object = {}, starter = BOB, rules: object = {}) {
  const { data: created } = runCreated({ started_by: { type: "person", id: starter } });
  const call = { key: "k", options } as unknown as ApprovalCall;
  const needs = { log: logOf(members, rules), keyring };
  return (await findRefusedAssignee(needs, { organization_id: "o", created }, [call]))?.message;
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
  expect(await refusalOf(own, MEMBERS, EVE)).toBeUndefined();
  const nobody = "awaitApproval: nobody who is asked may decide it.";
  expect(await refusalOf({ ...own, assignees: people(EVE, "bob@x.de") }, MEMBERS)).toBe(nobody);
});

test("people who may not decide may be asked if API keys vote, too", async () => {
  const asked = { assignees: people(ANN, EVE), votes, api_key_may_decide: true };
  const restricted = { allow_api_key: true, allow_api_key_when_restricted: true };
  expect(await refusalOf(asked, MEMBERS, BOB, restricted)).toBeUndefined();
  const only = "awaitApproval: required is 2, but only 1 of the people who are asked may decide it.";
  expect(await refusalOf({ ...asked, api_key_may_decide: false }, MEMBERS, BOB, restricted)).toBe(only);
  expect(await refusalOf(asked, MEMBERS, BOB, { ...restricted, allow_api_key: false })).toBe(only);
  expect(await refusalOf(asked, MEMBERS, BOB, { allow_api_key: true })).toBe(only);
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
