import { withService, type Service, type ServiceOptions } from "../service.ts";

/** Work of an administrator on what is stored about somebody. Throws Problem. */
export const withPrivacy = <T>(options: ServiceOptions, work: (service: Service) => Promise<T>): Promise<T> =>
  withService(options, { action: "export or erase what somebody has", roles: "an admin or an owner" }, work);
