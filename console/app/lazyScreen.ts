import { lazyRouteComponent } from "@tanstack/react-router";
import { importFile } from "../parts/importFile.ts";

/** A screen whose file is loaded when it is first opened. */
export const lazyScreen = <T extends Record<string, unknown>, K extends keyof T>(load: () => Promise<T>, name: K) =>
  lazyRouteComponent<T, K>(() => importFile(load), name);
