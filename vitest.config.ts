import { defineConfig } from "vitest/config";

const never = ["**/node_modules/**", "bench/**", "scripts/fixtures/**", ".data/**", ".runtime/**"];
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
          exclude: [...never, "test/simulation/**"],
          globalSetup: "test/services.ts",
        },
      },
    ],
  },
});
