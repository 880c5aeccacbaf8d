import type { UseMutationResult } from "@tanstack/react-query";
import { ERASED_KINDS } from "../../api/erasedKinds.ts";
import type { ErasurePreview } from "../../api/privacy.ts";
import { formatNumber } from "../../format/index.ts";
import { kindWord } from "../../format/kindWord.ts";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { HeldThings } from "./HeldThings.tsx";

function ErasedThings({ preview }: { preview: ErasurePreview }) {
  const kinds = ERASED_KINDS.filter((kind) => preview[kind].count > 0);
  if (kinds.length === 0) return <p>Nothing of these kinds would be erased now.</p>;
  return (
    <>
      <p>This would be erased, for good:</p>
      <ul>
        {kinds.map((kind) => (
          <li key={kind}>
            <strong>{formatNumber(preview[kind].count)}</strong> {kindWord(kind, preview[kind].count)}
          </li>
        ))}
      </ul>
    </>
  );
}

interface Props {
  count: UseMutationResult<ErasurePreview, Error, FormData>;
}

/** The items that the erasure would delete, shown before the confirmation. */
export const ErasureCounts = ({ count }: Props) => (
  <>
    <button
      type="button"
      className="button"
      onClick={({ currentTarget }) => count.mutate(new FormData(currentTarget.form!))}
    >
      Count it first
    </button>
    <div role="status">
      {count.data && (
        <div className="notice plain">
          <ErasedThings preview={count.data} />
          {count.data.held.length > 0 && <HeldThings keep="keep, until their release" held={count.data.held} />}
        </div>
      )}
    </div>
    {count.error && <ErrorNotice error={count.error} />}
  </>
);
