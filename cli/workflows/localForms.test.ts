import { expect, test } from "vitest";
import { findViolation } from "#infra/schemas/findViolation.ts";
import { AnswersFile } from "./answers.ts";
import { fillForms } from "./localForms.ts";

const form = {
  type: "object",
  properties: { amount: { type: "integer", default: 5 }, account: { type: "string" } },
  required: ["amount"],
};
const schemas = { check: async (_: string, schema: object, value: unknown) => findViolation({ ...schema }, value) };
const fill = (answer: unknown, votes?: { required: number; one_rejection_ends: boolean }) => {
  const options = { form, ...(votes && { votes }) };
  const call = { kind: "approval", key: "k", name: "budget", options } as unknown as Parameters<typeof fillForms>[1];
  return fillForms(schemas, call, AnswersFile.parse({ approvals: { budget: answer } }).approvals["budget"]![0]!);
};

test("an approval gets the defaults of its form, as from a service; other decisions do not", async () => {
  expect((await fill("approve")).data).toEqual({ amount: 5 });
  expect((await fill({ decision: "approve", data: { account: "A" } })).data).toEqual({ amount: 5, account: "A" });
  expect((await fill({ decision: "approve", data: { amount: 7 } })).data).toEqual({ amount: 7 });
  for (const decision of ["reject", "expire", "wait"]) expect((await fill(decision)).data).toBeNull();
});

test("each of the listed votes does", async () => {
  const votes = [{ decision: "approve" }, { decision: "approve", data: { amount: 7 } }];
  const filled = await fill({ decision: "approve", votes }, { required: 2, one_rejection_ends: true });
  expect(filled.votes!.map(({ data }) => data)).toEqual([{ amount: 5 }, { amount: 7 }]);
});

test("data that does not fit the form is refused", async () => {
  const wrong = { data: { amount: "much" } };
  const refusal = /^The data of the approval budget does not fit its form: data\/amount: /;
  await expect(fill({ decision: "approve", ...wrong })).rejects.toThrow(refusal);
  await expect(fill({ decision: "reject", ...wrong })).rejects.toThrow(refusal);
  const votes = [{ decision: "approve", ...wrong }, { decision: "approve" }];
  await expect(fill({ decision: "approve", votes }, { required: 2, one_rejection_ends: true })).rejects.toThrow(
    refusal,
  );
});
