import type { KeyWithSecret } from "../../api/keys.ts";
import { OneTimeSecret } from "../../parts/OneTimeSecret.tsx";

/** The secret of a key that was just created or rotated. */
export const KeySecret = ({ title, changed }: { title: string; changed: KeyWithSecret }) =>
  changed.key === undefined ? (
    <p className="notice warn" role="status">
      The request was repeated, and its secret was shown before. If nobody has it, give the key a new one.
    </p>
  ) : (
    <OneTimeSecret title={title} secret={changed.key}>
      The service keeps only a hash of it. Whoever has it can ask in the name of this key.
    </OneTimeSecret>
  );
