/** Place is where a program finds this server. */
export interface Place {
  url: string;
  key: string;
  environment: string;
}

/** languages are the ways to connect a service, each with code that runs as it is. */
export const languages = {
  curl: ({ url, key, environment }: Place) => `curl -s -X POST '${url}/ofrep/v1/evaluate/flags/checkout-v2' \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'X-Signalbox-Environment: ${environment}' \\
  -H 'Content-Type: application/json' \\
  -d '{"context": {"targetingKey": "alice", "plan": "pro"}}'`,

  Go: ({ url, key, environment }: Place) => `// go get github.com/signalbox/signalbox/client
// export SIGNALBOX_URL=${url}
// export SIGNALBOX_API_KEY=${key}
// export SIGNALBOX_ENVIRONMENT=${environment} SIGNALBOX_SERVICE=shop
box, err := live.Start(ctx)
if err != nil {
	return err
}
defer box.Close(ctx)

log := slogadapter.New(box, slog.NewJSONHandler(os.Stdout, nil)).Logger("shop.payments")
checkout := box.Bool("checkout-v2", false)
ctx = live.WithContext(ctx, live.User("alice", live.Attr("plan", "pro")))
log.InfoContext(ctx, "Checkout.", "new", checkout.Get(ctx))`,

  Python: ({ url, key, environment }: Place) => `# pip install openfeature-sdk openfeature-provider-ofrep
from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext

api.set_provider(
    OFREPProvider(
        "${url}",
        headers_factory=lambda: {
            "Authorization": "Bearer ${key}",
            "X-Signalbox-Environment": "${environment}",
        },
    )
)
alice = EvaluationContext("alice", {"plan": "pro"})
print(api.get_client().get_boolean_value("checkout-v2", False, alice))`,

  TypeScript: ({ url, key, environment }: Place) => `// npm install @openfeature/server-sdk @openfeature/ofrep-provider
import { OFREPProvider } from "@openfeature/ofrep-provider";
import { OpenFeature } from "@openfeature/server-sdk";

await OpenFeature.setProviderAndWait(
  new OFREPProvider({
    baseUrl: "${url}",
    headers: [
      ["Authorization", "Bearer ${key}"],
      ["X-Signalbox-Environment", "${environment}"],
    ],
  }),
);
const alice = { targetingKey: "alice", plan: "pro" };
console.log(await OpenFeature.getClient().getBooleanValue("checkout-v2", false, alice));`,

  Java: ({ url, key, environment }: Place) => `// dev.openfeature:sdk and dev.openfeature.contrib.providers:ofrep
var options = OfrepProviderOptions.builder()
    .baseUrl("${url}")
    .headers(ImmutableMap.of(
        "Authorization", ImmutableList.of("Bearer ${key}"),
        "X-Signalbox-Environment", ImmutableList.of("${environment}")))
    .build();
var api = OpenFeatureAPI.getInstance();
api.setProviderAndWait(OfrepProvider.constructProvider(options));
var alice = new MutableContext("alice").add("plan", "pro");
System.out.println(api.getClient().getBooleanValue("checkout-v2", false, alice));`,
} as const;

export type Language = keyof typeof languages;
