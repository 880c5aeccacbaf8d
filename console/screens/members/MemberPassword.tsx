import { SERVICE_URL } from "../../api/call.ts";
import { OneTimeSecret } from "../../parts/OneTimeSecret.tsx";

/** A repeated request returns no password, because the first answer has shown it. */
export const MemberPassword = ({ title, password }: { title: string; password: string | undefined }) =>
  password === undefined ? (
    <p className="notice warn" role="status">
      The request was repeated, and the password was shown before. If nobody has it, give the member a new one.
    </p>
  ) : (
    <OneTimeSecret title={title} secret={password}>
      Send it to the person, who signs in at <span className="mono">{new URL("console/", SERVICE_URL).href}</span> and
      chooses another one under Settings.
    </OneTimeSecret>
  );
