import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const never = ["**/node_modules/**", "dev/bench/**", "dev/checks/fixtures/**", ".data/**", ".runtime/**"];
/** Tests for `npm run drill`, up to a minute each: they destroy a deployment, or send hostile scripts, files and answers. */
const drills = ["test/**/*.drill.test.ts"];
/** Drills that run alone, because they measure delays. */
const alone = ["test/isolation/*.drill.test.ts"];
const shared = {
  setupFiles: "test/setup.ts",
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // On a busy machine, the default of one second is too short.
  expect: { poll: { timeout: 60_000 } },
};
/** Limits that only end a drill that hangs. */
const patient = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 120_000 } } };
/** Files of one worker share its process and modules: loading them for every file took a third of the processor time. */
const sharing = { isolate: false };

/** The soak drill runs first: it waits for ten minutes and computes little, so at the end two cores would wait for it. */
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
    // Test files wait more than they compute, so there could be more workers. But each may hold 30 of PostgreSQL's 300
    // connections, and more if a test starts several platforms.
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
          setupFiles: [shared.setupFiles, "test/quickPasswords.ts"],
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
