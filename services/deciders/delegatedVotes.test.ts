import { test } from "vitest";
import { ApprovalDelegated } from "#events/approvalPeople.ts";
import { ApprovalRequested, ApprovalVoted } from "#events/run.ts";
import { CREATED, RUN_ID } from "#test/doubles/runInMemory.ts";
import { command, given } from "#test/given.ts";
import { run } from "./run.ts";

/* Votes on a delegated approval. People lose and get back their right to decide, so a delegation may be without effect for a while. */

const AT = "2026-01-01T00:00:00.000Z";
const about = { run_id: RUN_ID, approval_id: "a1", key: "k".repeat(22) };
const person = (id: string) => ({ type: "person" as const, id });
const terms = {
  self_approval: true,
  on_expiry: "return" as const,
  allow_api_key: true,
  votes: { required: 3, one_rejection_ends: true },
  expires_at: "2027-01-01T00:00:00.000Z",
};
const text = { name: "n", title: "t", body: null, form: null, assignees: [] };
const requested = ApprovalRequested.of({ ...about, workflow_id: "w1", project_id: null, ...terms }, text);
const delegated = (by: string, to: string) =>
  ApprovalDelegated.of({ run_id: RUN_ID, approval_id: "a1", by: person(by), to }, { reason: "away" });
const voted = (id: string, more = {}) =>
  ApprovalVoted.of({ ...about, decision: "approve", by: person(id), ...more, at: AT }, { data: null, comment: null });
const vote = (id: string, more: object = {}) =>
  command("DecideApproval", {
    run_id: RUN_ID,
    approval_id: "a1",
    decision: "approve",
    by: person(id),
    data: null,
    comment: null,
    ...more,
  });
const after = (...events: Parameters<typeof given>[1] & {}) => given(run, [CREATED, requested, ...events]);

test("a delegate has no vote if the person who delegated has voted in the meantime", () => {
  const events = [delegated("ann", "bob")];
  after(...events)
    .when(vote("ann", { absent: ["bob"] }))
    .then(voted("ann"));
  after(...events, voted("ann"))
    .when(vote("bob"))
    .rejected("approver_not_allowed");
  after(...events, voted("sub", { in_place_of: "ann" }))
    .when(vote("bob"))
    .rejected("approver_not_allowed");
});

test("a delegate of that delegate has no vote either", () => {
  after(delegated("ann", "bob"), delegated("bob", "cleo"), voted("ann"))
    .when(vote("cleo"))
    .rejected("approver_not_allowed");
});

test("a delegate who is absent loses the approval to the next person to whom it is delegated", () => {
  const events = [delegated("ann", "bob"), delegated("bob", "cleo"), delegated("bob", "dan")];
  after(...events)
    .when(vote("cleo"))
    .rejected("approver_not_allowed");
  after(...events, voted("dan"))
    .when(vote("cleo"))
    .rejected("approver_not_allowed");
  after(...events)
    .when(vote("dan"))
    .then(voted("dan"));
  after(...events, delegated("eve", "cleo"))
    .when(vote("cleo"))
    .then(voted("cleo"));
});

test("a person who delegated an approval has no vote while a delegate's delegate has it, although the delegate has left", () => {
  const absent = { absent: ["bob"] };
  const events = [delegated("ann", "bob"), delegated("bob", "cleo")];
  after(...events)
    .when(vote("ann", absent))
    .rejected("approver_not_allowed");
  after(...events)
    .when(vote("ann", { absent: ["bob", "cleo"] }))
    .then(voted("ann"));
  after(...events, delegated("bob", "dan"))
    .when(vote("ann", { absent: ["bob", "cleo"] }))
    .rejected("approver_not_allowed");
  after(delegated("ann", "bob"), delegated("dan", "bob"), delegated("bob", "cleo"))
    .when(vote("ann", absent))
    .then(voted("ann"));
});

test("a delegate votes in place of the person who delegated, who votes again after getting it back", () => {
  after(delegated("ann", "bob")).when(vote("bob")).then(voted("bob"));
  after(delegated("ann", "bob"), delegated("bob", "ann")).when(vote("ann")).then(voted("ann"));
  after(delegated("ann", "bob"), voted("bob")).when(vote("bob")).then();
});

test("a person who delegated the own vote and then got another person's vote casts the latter", () => {
  after(delegated("ann", "bob"), delegated("bob", "cleo"), delegated("dan", "bob"), voted("bob"))
    .when(vote("cleo"))
    .then(voted("cleo"));
});

test("a delegate votes although the person who delegated has voted as a substitute of a third person", () => {
  after(delegated("ann", "bob"), voted("ann", { in_place_of: "dan" }))
    .when(vote("bob"))
    .then(voted("bob"));
});

test("a delegation that has ended stays without effect when the delegate is back", () => {
  const events = [delegated("ann", "bob"), delegated("ann", "cleo")];
  after(...events)
    .when(vote("ann", { absent: ["cleo"] }))
    .then(voted("ann"));
  after(...events, delegated("cleo", "bob"))
    .when(vote("bob"))
    .then(voted("bob"));
  after(delegated("bob", "eve"), ...events, delegated("dan", "bob"))
    .when(vote("bob"))
    .then(voted("bob"));
});

test("a delegation that has ended does not block the person who delegated, although a delegate's delegate is back", () => {
  after(delegated("ann", "bob"), delegated("bob", "cleo"), delegated("ann", "dan"))
    .when(vote("ann", { absent: ["bob", "dan"] }))
    .then(voted("ann"));
});
