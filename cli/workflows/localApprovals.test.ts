import { describe, expect, test } from "vitest";
import { AnswersFile, type ApprovalAnswer } from "./answers.ts";
import { approvalResult } from "./localApprovals.ts";

const NOW = Date.UTC(2030, 0, 1);
const options = {
  title: "Pay?",
  body: null,
  form: null,
  assignees: [],
  expires_in_ms: null,
  on_expiry: "return" as const,
  self_approval: true,
  api_key_may_decide: true,
};
const parse = (answer: unknown) => AnswersFile.parse({ approvals: { boss: answer } }).approvals["boss"]![0]!;
type Decision = ApprovalAnswer & { decision: "approve" };
const resultOf = (answer: unknown, votes?: { required: number; one_rejection_ends: boolean }) =>
  JSON.parse(
    approvalResult({
      kind: "approval",
      key: "k",
      name: "boss",
      options: { ...options, ...(votes && { votes }) },
      given: parse(answer) as Decision,
      now: NOW,
      run_id: "r1",
    }),
  );
const idsOf = (votes: { by: { id: string } }[]) => votes.map(({ by }) => by.id);
const two = { required: 2, one_rejection_ends: true };

test("an approval that takes one decision has no votes", () => {
  const answer = { decision: "approve", data: { a: 1 }, comment: "fine", files: ["f1"], by: "Ann" };
  expect(resultOf(answer)).toEqual({
    approved: true,
    status: "approved",
    data: { a: 1 },
    comment: "fine",
    files: ["f1"],
    decided_by: { type: "person", id: "Ann" },
    decided_at: new Date(NOW).toISOString(),
    approval_id: expect.any(String),
  });
  expect(resultOf("expire")).toMatchObject({ approved: false, status: "expired", decided_by: null, data: null });
  expect(Object.keys(resultOf("expire"))).not.toContain("votes");
});

describe("an approval that takes several votes", () => {
  test("gets as many equal ones as it requires, each from another person", () => {
    const { votes, decided_by } = resultOf({ decision: "approve", data: 1, comment: "c" }, two);
    expect(votes).toEqual(
      ["local-1", "local"].map((id) => ({
        by: { type: "person", id },
        decision: "approve",
        data: 1,
        comment: "c",
        at: new Date(NOW).toISOString(),
      })),
    );
    expect(decided_by.id).toBe("local");
    expect(idsOf(resultOf("reject", two).votes)).toEqual(["local"]);
    expect(idsOf(resultOf("reject", { ...two, one_rejection_ends: false }).votes)).toEqual(["local-1", "local"]);
    expect(resultOf("expire", two).votes).toEqual([]);
  });

  test("gets those that are listed, and the last one is its decision", () => {
    const votes = [
      { decision: "approve", by: "Ann", comment: "yes" },
      { decision: "reject", by: "Bob", comment: "no" },
    ];
    const rejected = resultOf({ decision: "reject", votes }, two);
    expect(rejected).toMatchObject({ approved: false, comment: "no", decided_by: { id: "Bob" } });
    expect(idsOf(rejected.votes)).toEqual(["Ann", "Bob"]);
    expect(idsOf(resultOf({ decision: "expire", votes: votes.slice(0, 1) }, two).votes)).toEqual(["Ann"]);
    expect(() => parse({ decision: "approve", votes })).toThrow("the last of the votes decides");
  });
});
