import { Link } from "@tanstack/react-router";
import { CAN_HASH } from "../../api/proof.ts";
import type { LogSearch } from "./search.ts";
import type { ChainCheck } from "./useChainCheck.ts";

interface Props {
  now: ChainCheck;
  search: LogSearch;
}

/** Whether the hash equals a saved one. */
const Comparison = ({ isSame }: { isSame: boolean }) =>
  isSame ? (
    <p className="notice good" role="status">
      This is the hash that was kept: nothing up to here was changed, added or removed since.
    </p>
  ) : (
    <p className="notice bad" role="alert">
      <strong>This is not the hash that was kept.</strong> An event up to here was changed, added or removed since. Ask
      the operator of the service to compare the log with a backup.
    </p>
  );

/** The hash that this browser computed, for a later comparison. */
export function ProofOfEvents({ now: { proof, state }, search }: Props) {
  const { expect, verify: _, ...rest } = search;
  if (!CAN_HASH)
    return (
      <p className="quiet">
        Only the service computed hashes: browsers do so on https only, and on the machine of the service.
      </p>
    );
  const { hash, last } = proof;
  if (state !== "done" || !last) return null;
  const kept = { ...rest, follow: undefined, event: undefined, verify: last.cursor, expect: hash };
  return (
    <>
      {expect !== undefined && <Comparison isSame={expect === hash} />}
      <p>
        Hash of your events up to the last of them: <code className="hash">{hash}</code>
      </p>
      {expect === undefined && (
        <p className="quiet">
          Keep{" "}
          <Link to="/log" search={kept}>
            this address with the hash
          </Link>{" "}
          somewhere else. Opened later, it computes the hash again, and says whether it is still the same. Personal
          fields are part of it as they are stored, so deleting them changes nothing.
        </p>
      )}
    </>
  );
}
