"""Runs that LangChain, LangGraph and OpenTelemetry tell of."""

from __future__ import annotations

import json
import unittest
import unittest.mock
import warnings
from typing import TypedDict

import support
from support import InFolder, lines

import stepscope
from stepscope import record


class Told(InFolder):
    def run_of(self):
        (line,) = lines(self.path)
        return line

    def check(self, kind="procedural"):
        (found,) = stepscope.check(self.path)
        self.assertEqual((found["kind"], found["findings"]), (kind, []))
        return str(stepscope.show(self.path))


@unittest.skipUnless(support.has("langchain_core"), "langchain-core is not installed")
class OfLangChain(Told):
    def setUp(self):
        super().setUp()
        self.handler = stepscope.LangChain(self.path, dataset="apples")
        self.config = {"callbacks": [self.handler]}

    def model(self, *texts, **more):
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage

        usage = {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}
        messages = [AIMessage(text, usage_metadata=usage, response_metadata={"model_name": "m"}, **more) for text in texts]
        return GenericFakeChatModel(messages=iter(messages))

    def test_a_model_alone_is_a_line_of_its_own(self):
        calls = [{"name": "add", "args": {"a": 2, "b": 3}, "id": "t"}]
        model = self.model("five", tool_calls=calls)
        self.assertEqual(model.invoke([("system", "Be short."), ("user", "2 + 3?")], config=self.config).content, "five")
        line = self.run_of()
        self.assertEqual(json.loads(line["prompt"]), [{"role": "system", "content": "Be short."}, {"role": "user", "content": "2 + 3?"}])
        self.assertEqual((line["response"], line["model"], line["error"]), ("five", "m", None))
        self.assertEqual(line["usage"], {"prompt_tokens": 7, "completion_tokens": 2})
        self.assertEqual(line["tool_calls"], [{"id": "t", "name": "add", "arguments": {"a": 2, "b": 3}}])
        self.check("call")

    def test_a_chain_is_a_run(self):
        from langchain_core.output_parsers import StrOutputParser
        from langchain_core.prompts import ChatPromptTemplate

        chain = ChatPromptTemplate.from_messages([("user", "{question}")]) | self.model("five") | StrOutputParser()
        self.assertEqual(chain.invoke({"question": "2 + 3?"}, config=self.config), "five")
        line = self.run_of()
        self.assertEqual((line["question"], line["pred_answer"], line["dataset"], line["status"]), ("2 + 3?", "five", "apples", "ok"))
        (call,) = line["trace"]["steps"]
        self.assertEqual((call["raw"], json.loads(call["prompt"])), ("five", [{"role": "user", "content": "2 + 3?"}]))
        self.check("baseline")

    def test_an_error_is_that_of_the_run(self):
        from langchain_core.runnables import RunnableLambda

        def fail(what):
            raise ValueError("no key sk-51cret-51cret")

        with self.assertRaises(ValueError):
            RunnableLambda(fail).invoke("2 + 3?", config=self.config)
        line = self.run_of()
        self.assertEqual((line["status"], line["error_type"], line["error"]), ("error", "ValueError", "no key [key]"))

    def test_tools_are_steps_and_all_of_it_may_be_of_a_block(self):
        from langchain_core.runnables import RunnableLambda
        from langchain_core.tools import tool

        @tool
        def add(a: int, b: int) -> int:
            """Adds."""
            return a + b

        model = self.model("ask add", "five")

        def agent(question, config):
            model.invoke(question, config=config)
            total = add.invoke({"a": 2, "b": 3}, config=config)
            model.invoke(f"{question} It is {total}.", config=config)
            return {"final_answer": str(total)}

        with record(self.path, id="own", question="2 + 3?") as run, run.step("agent") as step:
            step.writes(RunnableLambda(agent).invoke("2 + 3?", config=self.config))
        line = self.run_of()
        told = [(call["name"], call["inputs"], call["outputs"]) for call in line["trace"]["steps"]]
        self.assertEqual(told, [("agent", {}, None), ("add", {"a": 2, "b": 3}, {"add": 5}), ("agent", {}, {"final_answer": "5"})])
        self.assertEqual((line["id"], line["state"]), ("own", {"add": 5, "final_answer": "5"}))
        self.check()

    def test_another_library_is_named_where_it_is_missing(self):
        from stepscope import _langchain, _spans

        for make, module in ((_langchain._handler, "langchain_core"), (_spans._exporter, "opentelemetry")):
            make.cache_clear()
            self.addCleanup(make.cache_clear)
            with unittest.mock.patch.dict("sys.modules", {f"{module}.callbacks": None, f"{module}.sdk.trace.export": None}):
                with self.assertRaisesRegex(ImportError, "needs"):
                    make()

    @unittest.skipUnless(support.has("langgraph"), "langgraph is not installed")
    def test_nodes_of_a_graph_are_steps(self):
        from langgraph.graph import END, START, StateGraph

        class State(TypedDict):
            mail: str
            total: int

        model = self.model('{"total": 3}')

        def extract(state):
            return json.loads(model.invoke([("user", state["mail"])]).content)

        graph = StateGraph(State)
        graph.add_node("extract", extract)
        graph.add_node("double", lambda state: {"total": state["total"] * 2})
        graph.add_edge(START, "extract")
        graph.add_edge("extract", "double")
        graph.add_edge("double", END)
        graph.compile().invoke({"mail": "three"}, config=self.config)
        line = self.run_of()
        first, second = line["trace"]["steps"]
        self.assertEqual((first["name"], first["inputs"], first["outputs"], first["raw"]), ("extract", {"mail": "three"}, {"total": 3}, '{"total": 3}'))
        self.assertEqual((second["name"], second["inputs"], second["outputs"]), ("double", {"mail": "three", "total": 3}, {"total": 6}))
        self.assertEqual((line["state"], line["question"]), ({"mail": "three", "total": 6}, "three"))
        self.assertIn("total  6  [recorded]", self.check())

    @unittest.skipUnless(support.has("langgraph.prebuilt") if support.has("langgraph") else False, "langgraph is not installed")
    def test_an_agent_and_its_tools_are_steps(self):
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage
        from langchain_core.tools import tool
        from langgraph.prebuilt import create_react_agent

        class Model(GenericFakeChatModel):
            def bind_tools(self, tools, **_):
                return self

        @tool
        def add(a: int, b: int) -> int:
            """Adds."""
            return a + b

        called = AIMessage("", tool_calls=[{"name": "add", "args": {"a": 2, "b": 3}, "id": "t"}])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            agent = create_react_agent(Model(messages=iter([called, AIMessage("five")])), [add])
        agent.invoke({"messages": [("user", "2 + 3?")]}, config=self.config)
        line = self.run_of()
        self.assertEqual([call["name"] for call in line["trace"]["steps"]], ["agent", "add", "tools", "agent", "LangGraph"])
        first, tool_step, *_ = line["trace"]["steps"]
        self.assertEqual(first["tool_calls"], [{"id": "t", "name": "add", "arguments": {"a": 2, "b": 3}}])
        self.assertEqual((tool_step["inputs"], tool_step["outputs"]), ({"a": 2, "b": 3}, {"add": "5"}))
        self.check()

    @unittest.skipUnless(support.has("langgraph"), "langgraph is not installed")
    def test_a_long_talk_in_a_graph_is_not_written_again_for_each_node(self):
        import asyncio

        from langgraph.graph import END, START, MessagesState, StateGraph

        model = self.model(*["x" * 2000] * 60)
        graph = StateGraph(MessagesState)
        graph.add_node("talk", lambda state: {"messages": [model.invoke(state["messages"])]})
        graph.add_edge(START, "talk")
        graph.add_conditional_edges("talk", lambda state: "talk" if len(state["messages"]) < 60 else END)
        asyncio.run(graph.compile().ainvoke({"messages": [("user", "2 + 3?")]}, config={**self.config, "recursion_limit": 200}))
        line = self.run_of()
        *steps, end = line["trace"]["steps"]
        self.assertEqual((len(steps), line["question"]), (59, "2 + 3?"))
        self.assertEqual({call["name"] for call in steps}, {"talk"})
        self.assertEqual(steps[9]["inputs"]["messages"][0], "(9 earlier messages)")
        self.assertEqual(len(line["state"]["messages"]), 60)
        self.assertEqual((end["name"], end["outputs"]), ("LangGraph", line["state"]))
        self.check()
        self.assertLess(self.path.stat().st_size, 1_500_000)


MESSAGES = [{"role": "user", "parts": [{"type": "text", "content": "2 + 3?"}]}]
CALLED = [{"role": "assistant", "parts": [{"type": "tool_call", "id": "t", "name": "add", "arguments": {"a": 2, "b": 3}}], "finish_reason": "tool_call"}]
RESULT = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "t", "response": 5}]}]
FIVE = [{"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": "five"}], "finish_reason": "stop"}]
ASKED = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m", "gen_ai.request.temperature": 0.5, "gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 2}


@unittest.skipUnless(support.has("opentelemetry.sdk") if support.has("opentelemetry") else False, "opentelemetry-sdk is not installed")
class OfSpans(Told):
    def setUp(self):
        super().setUp()
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        self.provider = TracerProvider()
        self.addCleanup(self.provider.shutdown)
        self.provider.add_span_processor(BatchSpanProcessor(stepscope.SpanExporter(self.path, dataset="apples")))
        self.tracer = self.provider.get_tracer("test")

    def span(self, name, **attributes):
        return self.tracer.start_as_current_span(name, attributes=attributes)

    def chat(self, asked, said, **more):
        told = {"gen_ai.input.messages": json.dumps(asked), "gen_ai.output.messages": json.dumps(said)}
        with self.span("chat m", **ASKED, **told, **more), self.span("POST", **{"http.request.method": "POST"}):
            pass

    def test_a_trace_is_a_run(self):
        with self.span("invoke_agent sums", **{"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "sums", "output.value": "five"}):
            with self.span("plan"):
                self.chat(MESSAGES, CALLED)
            tool = {"gen_ai.tool.name": "add", "gen_ai.tool.call.arguments": '{"a": 2, "b": 3}', "gen_ai.tool.call.result": "5"}
            with self.span("execute_tool add", **{"gen_ai.operation.name": "execute_tool"}, **tool):
                pass
            self.chat(MESSAGES + CALLED + RESULT, FIVE, **{"gen_ai.system_instructions": '[{"type": "text", "content": "Be short."}]'})
        self.provider.force_flush()
        line = self.run_of()
        plan, add, last = line["trace"]["steps"]
        self.assertEqual((plan["name"], plan["raw"], plan["model"], plan["temperature"]), ("plan", "", "m", 0.5))
        self.assertEqual(plan["tool_calls"], [{"id": "t", "name": "add", "arguments": {"a": 2, "b": 3}}])
        self.assertEqual((add["name"], add["inputs"], add["outputs"]), ("add", {"a": 2, "b": 3}, {"add": "5"}))
        self.assertEqual((last["raw"], last["reasoning"], last["system"], last["usage"]["prompt_tokens"]), ("five", "hm", "Be short.", 7))
        self.assertEqual((last["messages_from"], len(json.loads(last["prompt"]))), ({"call": 0, "count": 1}, 2))
        self.assertEqual((line["question"], line["pred_answer"], line["dataset"], len(line["id"])), ("2 + 3?", "five", "apples", 32))
        self.check()

    def test_a_call_alone_is_a_line_and_other_traces_are_none(self):
        with self.span("GET", **{"http.request.method": "GET"}):
            pass
        self.chat(MESSAGES, FIVE)
        self.provider.force_flush()
        line = self.run_of()
        self.assertEqual((line["response"], line["model"], line["backend"], json.loads(line["prompt"])), ("five", "m", "openai", [{"role": "user", "content": "2 + 3?"}]))
        self.check("call")

    def test_earlier_ways_of_telling_messages_are_read(self):
        told = [
            {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "2 + 3?", "gen_ai.completion.0.content": "five", "gen_ai.usage.prompt_tokens": 7},
            {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "2 + 3?", "llm.output_messages.0.message.content": "five", "llm.token_count.prompt": 7},
        ]
        for attributes in told:
            with self.span("chat", **{"gen_ai.request.model": "m"}, **attributes):
                pass
        with self.span("chat", **{"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 7}) as span:
            span.add_event("gen_ai.user.message", {"content": "2 + 3?"})
            span.add_event("gen_ai.choice", {"index": 0, "message": '{"content": "five"}'})
        self.provider.force_flush()
        found = lines(self.path)
        self.assertEqual(len(found), 3)
        for line in found:
            self.assertEqual((json.loads(line["prompt"]), line["response"], line["usage"]), ([{"role": "user", "content": "2 + 3?"}], "five", {"prompt_tokens": 7}))

    def test_errors_and_traces_without_their_root_are_told(self):
        with self.assertRaises(ValueError), self.span("root"):
            with self.span("ask"):
                self.chat(MESSAGES, FIVE)
                raise ValueError("no sk-51cret-51cret")
        self.provider.force_flush()
        root = self.tracer.start_span("never ends")
        from opentelemetry import trace

        with trace.use_span(root):
            self.chat(MESSAGES, FIVE)
        self.provider.shutdown()
        failed, cut = lines(self.path)
        self.assertEqual((failed["error_type"], failed["error"], failed["trace"]["steps"][-1]["error"]), ("ValueError", "no [key]", "ValueError: no [key]"))
        self.assertEqual((cut["trace"]["steps"][0]["raw"], cut["question"]), ("five", "2 + 3?"))

    def test_odd_spans_are_no_fault(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for value in ("[", "[1, null]", '{"a": 1}', '[{"role": "user", "parts": "x"}]', "", '[{"parts": [null, 1]}]'):
                with self.span("chat", **ASKED, **{"gen_ai.input.messages": value, "gen_ai.output.messages": value}):
                    pass
            self.provider.force_flush()
        self.assertEqual(len(lines(self.path)), 6)


if __name__ == "__main__":
    unittest.main()
