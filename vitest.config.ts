import { defineConfig } from "vitest/config";

const never = ["**/node_modules/**", "bench/**", "scripts/fixtures/**", ".data/**", ".runtime/**"];
/** Deployments that lose their parts under load, and are restored: up to a minute each, for `npm run drill`. */
const drills = ["test/**/*.drill.test.ts"];
const shared = { testTimeout: 30_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    pool: "forks",
    // most of them wait more than they compute: on two cores three take two thirds of the time of two
    maxWorkers: 3,
    projects: [
      {
        test: {
          ...shared,
          name: "unit",
          include: ["**/*.test.ts"],
          exclude: [...never, "test/!(simulation)/**", "test/*.ts"],
        },
      },
      {
        test: {
          ...shared,
          name: "system",
          include: ["test/**/*.test.ts"],
          exclude: [...never, "test/simulation/**", ...drills],
          globalSetup: "test/services.ts",
        },
      },
      {
        test: { ...shared, name: "drill", include: drills, exclude: never, globalSetup: "test/services.ts" },
      },
    ],
  },
});
