import type { Decider } from "#events/decider.ts";
import { FileDeleted, FileUploaded, type FileCommand, type FileEvent } from "#events/file.ts";
import { Rejection } from "#events/rejection.ts";
import { eraseOn } from "./keyErasure.ts";

export type FileState = { status: "absent" } | { status: "stored"; scope: string } | { status: "deleted" };

export const file: Decider<FileState, FileCommand, FileEvent> = {
  version: 1,
  initial: { status: "absent" },
  decide(command, state) {
    switch (command.type) {
      case "UploadFile": {
        if (state.status !== "absent") throw new Rejection("file_exists", "This file was uploaded already.");
        const { filename, purpose, sha256, ...data } = command.data;
        return [FileUploaded.of(data, { filename, purpose, sha256 })];
      }
      case "DeleteFile":
        if (state.status !== "stored" || state.scope !== command.data.scope)
          throw new Rejection("file_not_found", `No such file: ${command.data.file_id}.`, { param: "file_id" });
        return [FileDeleted.of({ file_id: command.data.file_id })];
    }
  },
  evolve(_, event) {
    switch (event.type) {
      case "FileUploaded":
        return { status: "stored", scope: event.data.scope };
      case "FileDeleted":
        return { status: "deleted" };
    }
  },
  erases: eraseOn("FileDeleted"),
};
