#include "flow/expressions/evaluator.hpp"

#include "flow/expressions/function_options.hpp"
#include "flow/expressions/literals.hpp"
#include "flow/expressions/own_functions.hpp"
#include "flow/expressions/type_names.hpp"
#include "flow/tensor_rows.hpp"

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/compute/function.h>
#include <arrow/compute/initialize.h>
#include <arrow/compute/registry.h>
#include <arrow/datum.h>
#include <arrow/extension/variable_shape_tensor.h>
#include <arrow/extension_type.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace headway::flow {

namespace cp = arrow::compute;

struct Evaluator::Node {
  data::Expression expression;
  std::shared_ptr<arrow::Scalar> literal;
  std::optional<OwnFunction> own;
  std::shared_ptr<cp::FunctionOptions> options;
  std::vector<Node> args;
};

namespace {

using Node = Evaluator::Node;

arrow::Status initialize_kernels() {
  static const arrow::Status done = cp::Initialize();
  return done;
}

/// One of Arrow's functions, which must make one value of a row.
arrow::Status check_function(const std::string& name, std::size_t arguments) {
  const auto found = cp::GetFunctionRegistry()->GetFunction(name);
  if (!found.ok()) return arrow::Status::Invalid("there is no function ", name);
  if ((*found)->kind() != cp::Function::SCALAR) {
    return arrow::Status::Invalid("the function ", name, " does not make one value of each row");
  }
  const cp::Arity& arity = (*found)->arity();
  const auto least = static_cast<std::size_t>(arity.num_args);
  if (arguments == least || (arity.is_varargs && arguments > least)) return arrow::Status::OK();
  return arrow::Status::Invalid("the function ", name, " takes ", arity.is_varargs ? "at least " : "", least,
                                " arguments; found ", arguments);
}

arrow::Result<Node> compile_node(const data::Expression& expression) {
  Node node{.expression = expression, .literal = {}, .own = {}, .options = {}, .args = {}};
  if (expression.kind == data::Expression::Kind::column) return node;
  if (expression.kind == data::Expression::Kind::literal) {
    std::shared_ptr<arrow::DataType> type;
    if (!expression.type.empty()) {
      ARROW_ASSIGN_OR_RAISE(type, type_of_name(expression.type));
    }
    ARROW_ASSIGN_OR_RAISE(node.literal, scalar_of(expression.literal, type));
    return node;
  }
  ARROW_ASSIGN_OR_RAISE(node.own, own_function(expression.name, expression.args.size(), expression.options));
  if (!node.own) {
    ARROW_RETURN_NOT_OK(check_function(expression.name, expression.args.size()));
    ARROW_ASSIGN_OR_RAISE(node.options, options_of(expression.name, expression.options));
  }
  for (const data::Expression& argument : expression.args) {
    ARROW_ASSIGN_OR_RAISE(Node compiled, compile_node(argument));
    node.args.push_back(std::move(compiled));
  }
  return node;
}

std::string column_names(const arrow::Schema& schema) {
  std::string names;
  for (const auto& field : schema.fields()) names += (names.empty() ? "" : ", ") + field->name();
  return names;
}

/// `; column a has type string, column b has type int64`
std::string types_in(const data::Expression& expression, const arrow::Schema& schema) {
  std::string words;
  for (const std::string& name : data::columns_read(expression)) {
    const auto field = schema.GetFieldByName(name);
    if (field == nullptr) continue;
    words += words.empty() ? "; " : ", ";
    words += "column " + name + " has type " + field->type()->ToString();
  }
  return words;
}

/// Kernels know nothing of extension types; what lies below them they do.
arrow::Result<arrow::Datum> storage_of(const arrow::Datum& value) {
  if (value.type() == nullptr || value.type()->id() != arrow::Type::EXTENSION || !value.is_array()) return value;
  if (const auto* tensors = dynamic_cast<const arrow::extension::VariableShapeTensorType*>(value.type().get())) {
    if (tensors->ndim() == 1) return with_row_type(value.make_array(), arrow::list(tensors->value_type()));
  }
  return static_cast<const arrow::ExtensionArray&>(*value.make_array()).storage();
}

struct Batch {
  const arrow::RecordBatch& rows;
  CallPlace place;
};

arrow::Result<arrow::Datum> evaluate_node(const Node& node, const Batch& batch);

arrow::Result<arrow::Datum> call(const Node& node, const Batch& batch) {
  std::vector<arrow::Datum> args;
  for (const Node& argument : node.args) {
    ARROW_ASSIGN_OR_RAISE(arrow::Datum value, evaluate_node(argument, batch));
    ARROW_ASSIGN_OR_RAISE(value, storage_of(value));
    args.push_back(std::move(value));
  }
  cp::ExecContext context(batch.place.pool);
  auto made = node.own ? (*node.own)(args, batch.place)
                       : cp::CallFunction(node.expression.name, args, node.options.get(), &context);
  if (made.ok()) return made;
  return made.status().WithMessage("the expression ", data::to_string(node.expression), " fails",
                                   types_in(node.expression, *batch.rows.schema()), ": ", made.status().message());
}

arrow::Result<arrow::Datum> evaluate_node(const Node& node, const Batch& batch) {
  if (node.expression.kind == data::Expression::Kind::literal) return arrow::Datum(node.literal);
  if (node.expression.kind == data::Expression::Kind::call) return call(node, batch);
  const auto& schema = *batch.rows.schema();
  const int index = schema.GetFieldIndex(node.expression.name);
  if (index >= 0) return arrow::Datum(batch.rows.column(index));
  const bool twice = schema.GetAllFieldIndices(node.expression.name).size() > 1;
  return arrow::Status::Invalid(twice ? "there are several columns " : "there is no column ", node.expression.name,
                                "; the columns are ", column_names(schema));
}

arrow::Result<arrow::Datum> evaluate_root(const Node& root, const arrow::RecordBatch& batch, const RowPlace& place,
                                          arrow::MemoryPool* pool) {
  return evaluate_node(root, {.rows = batch, .place = {.rows = place, .row_count = batch.num_rows(), .pool = pool}});
}

}  // namespace

arrow::Result<Evaluator> Evaluator::compile(const data::Expression& expression) {
  ARROW_RETURN_NOT_OK(initialize_kernels());
  auto root = compile_node(expression);
  if (!root.ok()) {
    return root.status().WithMessage("the expression ", data::to_string(expression),
                                     " cannot be used: ", root.status().message());
  }
  return Evaluator(std::make_shared<const Node>(std::move(*root)));
}

arrow::Result<std::shared_ptr<arrow::Array>> Evaluator::evaluate(const arrow::RecordBatch& batch, const RowPlace& place,
                                                                 arrow::MemoryPool* pool) const {
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum value, evaluate_root(*root_, batch, place, pool));
  if (value.is_array()) return value.make_array();
  if (value.is_scalar()) return arrow::MakeArrayFromScalar(*value.scalar(), batch.num_rows(), pool);
  return arrow::Status::Invalid("the expression ", data::to_string(root_->expression), " makes no column");
}

arrow::Result<std::shared_ptr<arrow::DataType>> Evaluator::type(const arrow::Schema& schema) const {
  const std::shared_ptr<arrow::Schema> same(std::shared_ptr<void>(), const_cast<arrow::Schema*>(&schema));
  ARROW_ASSIGN_OR_RAISE(const auto empty, arrow::RecordBatch::MakeEmpty(same));
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum value, evaluate_root(*root_, *empty, {}, arrow::default_memory_pool()));
  return value.type();
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> filter_rows(const std::shared_ptr<arrow::RecordBatch>& batch,
                                                               const Evaluator& where, const RowPlace& place,
                                                               arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(const auto mask, where.evaluate(*batch, place, pool));
  if (mask->type_id() != arrow::Type::BOOL) {
    return arrow::Status::Invalid("a filter's expression is true or false; found type ", mask->type()->ToString());
  }
  cp::ExecContext context(pool);
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum kept,
                        cp::Filter(arrow::Datum(batch), arrow::Datum(mask), cp::FilterOptions::Defaults(), &context));
  return kept.record_batch();
}

arrow::Result<std::vector<NamedEvaluator>> compile_all(const std::vector<data::NamedExpression>& columns) {
  std::vector<NamedEvaluator> compiled;
  for (const data::NamedExpression& column : columns) {
    ARROW_ASSIGN_OR_RAISE(Evaluator value, Evaluator::compile(column.expression));
    compiled.push_back({column.name, std::move(value)});
  }
  return compiled;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> project_rows(const std::shared_ptr<arrow::RecordBatch>& batch,
                                                                const std::vector<NamedEvaluator>& columns, bool keep,
                                                                const RowPlace& place, arrow::MemoryPool* pool) {
  arrow::FieldVector fields;
  arrow::ArrayVector values;
  if (keep) {
    fields = batch->schema()->fields();
    values = batch->columns();
  }
  for (const NamedEvaluator& column : columns) {
    ARROW_ASSIGN_OR_RAISE(auto value, column.value.evaluate(*batch, place, pool));
    auto field = arrow::field(column.name, value->type());
    const auto same =
        std::find_if(fields.begin(), fields.end(), [&](const auto& one) { return one->name() == column.name; });
    if (same == fields.end()) {
      fields.push_back(std::move(field));
      values.push_back(std::move(value));
      continue;
    }
    values[static_cast<std::size_t>(same - fields.begin())] = std::move(value);
    *same = std::move(field);
  }
  return arrow::RecordBatch::Make(arrow::schema(std::move(fields), batch->schema()->metadata()), batch->num_rows(),
                                  std::move(values));
}

}  // namespace headway::flow
