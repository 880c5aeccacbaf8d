import { Link } from "@tanstack/react-router";
import { useRole } from "../api/useRole.ts";

/** Links to the export, the erasure and the hold of a subject's data, for administrators. `subject`: `person:<id>` or `key:<id>`. */
export function PrivacyLinks({ subject }: { subject: string }) {
  const { isAdmin } = useRole();
  if (!isAdmin) return null;
  return (
    <>
      {" · "}
      <Link to="/privacy" search={{ section: "exports", subject }}>
        an export
      </Link>
      {" · "}
      <Link to="/privacy" search={{ section: "erasures", subject }}>
        an erasure
      </Link>
      {" · "}
      <Link to="/privacy" search={{ section: "holds", subject }}>
        a hold
      </Link>
    </>
  );
}
