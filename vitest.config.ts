import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const never = ["**/node_modules/**", "dev/bench/**", "dev/checks/fixtures/**", ".data/**", ".runtime/**"];
/** What takes a deployment apart, or takes long by its nature (hostile scripts, files and providers): up to a minute each, for `npm run drill`. */
const drills = ["test/**/*.drill.test.ts"];
/** Alone: they measure how long others wait. */
const alone = ["test/isolation/*.drill.test.ts"];
const shared = {
  setupFiles: "test/setup.ts",
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // A busy machine takes longer than the default of a second. Who polls waits for what must come.
  expect: { poll: { timeout: 60_000 } },
};
/** A drill ends by what it waits for; the limits only end one that hangs. */
const patient = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 120_000 } } };
/** Files of one worker share its process and modules: loading them for every file took a third of the processor time. */
const sharing = { isolate: false };

/** It waits for ten minutes and computes little. At the end of the drills two cores would wait for it. */
const isSoak = ({ moduleId }: TestSpecification): boolean => moduleId.endsWith("/soak.drill.test.ts");

class SoakFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(isSoak), ...sorted.filter((file) => !isSoak(file))];
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: SoakFirst },
    pool: "forks",
    // Test files wait more than they compute. More workers need more connections than PostgreSQL gives: each may hold 30 of 300, and more where a test starts several platforms.
    maxWorkers: 5,
    projects: [
      {
        test: {
          ...shared,
          ...sharing,
          name: "unit",
          include: ["**/*.test.ts"],
          exclude: [...never, ...drills, "test/!(simulation)/**", "test/*.ts"],
        },
      },
      {
        test: {
          ...shared,
          ...sharing,
          name: "system",
          include: ["test/**/*.test.ts"],
          exclude: [...never, "test/simulation/**", ...drills],
          globalSetup: "test/services.ts",
        },
      },
      {
        test: {
          ...shared,
          ...patient,
          name: "drill",
          include: drills,
          exclude: [...never, ...alone],
          globalSetup: "test/services.ts",
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...shared,
          ...patient,
          name: "alone",
          include: alone,
          globalSetup: "test/services.ts",
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
