import { expect, test } from "vitest";
import { ErasureAdvanced, ErasureCompleted, ErasureStarted } from "#events/erasure.ts";
import { command, given } from "#test/given.ts";
import { erasure } from "./erasure.ts";

const id = { erasure_id: "0198c0de-0000-7000-8000-00000000000a" };
const owner = "key:0198c0de-0000-7000-8000-00000000000b";
const started = ErasureStarted.of({ ...id, owner });
const first = ErasureAdvanced.of({ ...id, threads: 50, files: 2 });
const completed = ErasureCompleted.of(id);

test("an erasure starts once, counts what was deleted, and completes once", () => {
  given(erasure)
    .when(command("StartErasure", { ...id, owner }))
    .then(started);
  given(erasure, [started])
    .when(command("StartErasure", { ...id, owner }))
    .rejected("already_exists");
  const advance = command("AdvanceErasure", { ...id, threads: 3, files: 1 });
  given(erasure, [started, first])
    .when(advance)
    .then(ErasureAdvanced.of({ ...id, threads: 53, files: 3 }));
  given(erasure, [started, first]).when(command("CompleteErasure", id)).then(completed);
  given(erasure, [started, first, completed]).when(command("CompleteErasure", id)).then();
  given(erasure, [started, first, completed]).when(advance).then();
  given(erasure).when(advance).then();
});

test("an erasure is open work until it is completed", () => {
  const statusAfter = (...events: Parameters<typeof given>[1] & object) =>
    erasure.workStatus!(given(erasure, events).state).status;
  expect(statusAfter(started, first)).toBe("erasing");
  expect(statusAfter(started, completed)).toBeNull();
  expect(statusAfter()).toBeNull();
});
