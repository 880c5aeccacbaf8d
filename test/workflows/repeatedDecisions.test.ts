import { expect, test } from "vitest";
import { SOON, code, isOver, openFunctions } from "./harness.ts";

/* A repeated decision with another value is refused, with the name of the field that would be lost. */

const FORM = {
  type: "object",
  properties: { percent: { type: "number" }, note: { type: "string", default: "none" } },
  required: ["percent"],
};

const stage = await openFunctions({
  asks: { run: async (ctx, { terms }) => ({ said: await ctx.awaitApproval("boss", terms) }) },
});
const { home } = stage;

async function startAsking(terms: object) {
  const run = await home.start(await stage.register("asks"), { terms: { title: "Go?", ...terms } });
  const [approval] = await home.pending(run);
  return { run, id: approval.id as string };
}

test("a decision that is repeated with other data, comment or file is refused with the name of the difference", async () => {
  const { run, id } = await startAsking({ form: FORM });
  const [file, other] = [await home.upload("one"), await home.upload("two")];
  const first = { decision: "approve", data: { percent: -0.5 }, comment: "half", files: [file] };
  await home.made(home.decide({ id }, first));
  const changed = [
    ["data", { ...first, data: { percent: 60 } }],
    ["data", { ...first, data: { percent: -0.5, note: "more" } }],
    ["comment", { ...first, comment: "all" }],
    ["files", { ...first, files: [file, other] }],
  ] as const;
  for (const [param, body] of changed) {
    const answer = await home.decide({ id }, body);
    expect([...code(answer), answer.body.error.param]).toEqual([409, "approval_not_pending", param]);
  }
  const same = [
    first,
    { ...first, files: [file.toUpperCase()] },
    { decision: "approve" },
    { approved: true, data: null },
  ];
  for (const body of [...same, { decision: "approve", data: { note: "none", percent: -0.5 } }])
    expect(code(await home.decide({ id }, body))).toEqual([200, undefined]);
  const { said } = (await home.until(run, isOver)).result;
  expect(said).toMatchObject({ data: { percent: -0.5, note: "none" }, comment: "half", files: [file] });
});

test("several concurrent decisions are refused if they differ from the recorded one", async () => {
  const { id } = await startAsking({ form: FORM });
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) => home.decide({ id }, { decision: "approve", data: { percent: n % 4 } })),
  );
  const [kept] = answers.filter(({ status }) => status === 200);
  const { percent } = kept!.body.data;
  for (const [n, answer] of answers.entries())
    expect(code(answer)).toEqual(n % 4 === percent ? [200, undefined] : [409, "approval_not_pending"]);
});

test("a vote that is repeated with another comment is refused while others may still vote", async () => {
  const { id } = await startAsking({ votes: { required: 2, one_rejection_ends: true } });
  await home.made(home.decide({ id }, { decision: "approve", comment: "fine" }));
  const other = await home.decide({ id }, { decision: "approve", comment: "but soon" });
  expect([...code(other), other.body.error.param]).toEqual([409, "already_voted", "comment"]);
  await expect
    .poll(async () => code(await home.decide({ id }, { decision: "approve", comment: "fine" })), SOON)
    .toEqual([200, undefined]);
});
