import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const isExecutable = (path: string) => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The path of a program in one of the folders of PATH; undefined if none has it. */
export const findOnPath = (name: string) =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .find(isExecutable);
