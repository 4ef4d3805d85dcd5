// Runs Java's provider. It does the same as provider.go.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.openfeature.contrib.providers.flagd.Config;
import dev.openfeature.contrib.providers.flagd.FlagdOptions;
import dev.openfeature.contrib.providers.flagd.FlagdProvider;
import dev.openfeature.sdk.Client;
import dev.openfeature.sdk.EvaluationContext;
import dev.openfeature.sdk.ImmutableContext;
import dev.openfeature.sdk.ImmutableStructure;
import dev.openfeature.sdk.OpenFeatureAPI;
import dev.openfeature.sdk.Value;
import java.io.File;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class Provider {
    public static void main(String[] args) throws Exception {
        var options = FlagdOptions.builder().resolverType(Config.Resolver.IN_PROCESS).host(args[0]).port(Integer.parseInt(args[1]))
                .selector(args[2]).deadline(60_000).build();
        var api = OpenFeatureAPI.getInstance();
        api.setProviderAndWait(new FlagdProvider(options));
        var client = api.getClient();
        var json = new ObjectMapper();
        var asked = json.readTree(new File(args[3]));
        List<Map<String, Object>> found = new ArrayList<>();
        for (var given : asked.get("contexts")) {
            Map<String, Value> attributes = new HashMap<>();
            given.properties().stream().filter(each -> !each.getKey().equals("targetingKey"))
                    .forEach(each -> attributes.put(each.getKey(), value(each.getValue())));
            var at = given.has("targetingKey") ? new ImmutableContext(given.get("targetingKey").asText(), attributes) : new ImmutableContext(attributes);
            Map<String, Object> values = new HashMap<>();
            asked.get("flags").properties().forEach(each -> values.put(each.getKey(), ask(client, each.getKey(), each.getValue().asText().split(" ")[0], at)));
            found.add(values);
        }
        System.out.println(json.writeValueAsString(found));
        for (double last = -2; ; Thread.sleep(2)) {
            double now = client.getDoubleValue("clock", -1.0);
            if (now != last) {
                last = now;
                System.out.println((int) now);
            }
        }
    }

    static Object ask(Client client, String key, String of, EvaluationContext at) {
        return switch (of) {
            case "BOOLEAN" -> client.getBooleanValue(key, false, at);
            case "STRING" -> client.getStringValue(key, "?", at);
            case "NUMERIC" -> client.getDoubleValue(key, -99.0, at);
            default -> plain(client.getObjectValue(key, new Value(), at));
        };
    }

    static Value value(JsonNode from) {
        if (from.isBoolean()) {
            return new Value(from.booleanValue());
        } else if (from.isInt()) {
            return new Value(from.intValue());
        } else if (from.isNumber()) {
            return new Value(from.doubleValue());
        } else if (from.isTextual()) {
            return new Value(from.textValue());
        } else if (from.isArray()) {
            List<Value> items = new ArrayList<>();
            from.forEach(each -> items.add(value(each)));
            return new Value(items);
        }
        Map<String, Value> members = new HashMap<>();
        from.properties().forEach(each -> members.put(each.getKey(), value(each.getValue())));
        return new Value(new ImmutableStructure(members));
    }

    static Object plain(Value from) {
        if (from.isStructure()) {
            Map<String, Object> members = new HashMap<>();
            from.asStructure().asMap().forEach((name, each) -> members.put(name, plain(each)));
            return members;
        } else if (from.isList()) {
            return from.asList().stream().map(Provider::plain).toList();
        }
        return from.asObject();
    }
}
