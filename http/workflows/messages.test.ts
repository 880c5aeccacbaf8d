import { expect, test } from "vitest";
import { ApiError } from "../base/errors.ts";
import { nameReusedId } from "./messages.ts";

const reused = new ApiError("idempotency_key_reused", "This Idempotency-Key was used.", { param: "Idempotency-Key" });

test("the error for a reused id names the id, and the error for a reused key names the key", () => {
  expect(nameReusedId(reused, "delivery-17")).toMatchObject({ errorCode: "idempotency_key_reused", param: "id" });
  expect(nameReusedId(reused, null)).toBe(reused);
  const other = new ApiError("payload_too_large", "data: is too long.", { param: "data" });
  expect(nameReusedId(other, "delivery-17")).toBe(other);
});
