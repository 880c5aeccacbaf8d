import { expect, test } from "vitest";
import { requireReadingRoom, requireStorage } from "./storageLimits.ts";

const settings = { ORGANIZATION_MEGABYTES: 1 } as never;
const withStored = (bytes: number, unread: number) => ({ settings, stored: async () => ({ bytes, unread }) });
const tooMany = expect.objectContaining({ status: 429, errorCode: "too_many_unread_files", retryAfterMs: 5_000 });

test("beyond 50,000 unread files an organization sends no more to be read, and still stores others", async () => {
  const file = { bytes: 10, param: "file" };
  const full = withStored(0, 50_000);
  await expect(requireStorage(full, "organization", { ...file, isRead: true })).rejects.toEqual(tooMany);
  await expect(requireReadingRoom(full, "organization")).rejects.toEqual(tooMany);
  await requireStorage(full, "organization", file);
  const almostFull = withStored(0, 49_999);
  await requireStorage(almostFull, "organization", { ...file, isRead: true });
  await requireReadingRoom(almostFull, "organization");
});

test("a file that does not fit into the organization's storage is refused by its field", async () => {
  const fits = { bytes: 10, param: "file" };
  await requireStorage(withStored(999_990, 0), "organization", fits);
  await expect(requireStorage(withStored(999_991, 0), "organization", fits)).rejects.toEqual(
    expect.objectContaining({ status: 413, errorCode: "storage_limit_reached", param: "file" }),
  );
});
